import progress from 'cli-progress';

const { Format, SingleBar } = progress;

import type { CliIo } from './cli-io.ts';

/** The progress of a long command, on standard error: a bar on a terminal, otherwise lines. */
export interface Progress {
  /** `total`: the new total, if it has changed. */
  update(done: number, total?: number): void;
  /** Prints a line of text above the bar. */
  say(text: string): void;
  stop(): void;
}

const PLAIN_EVERY_MS = 2000;

/** `unit`: the name of the things that are counted, in the plural. `total` and `done` are the numbers at the beginning. */
export function createProgress(io: CliIo, unit: string, total: number, done: number): Progress {
  return io.stderr.isTTY ? bar(io, unit, total, done) : plain(io, unit, total, done);
}

function bar(io: CliIo, unit: string, total: number, startedAt: number): Progress {
  const begun = io.clock();
  const progress = new SingleBar({
    stream: io.stderr as NodeJS.WriteStream,
    // With `false`, the terminal does not wrap lines until `stop` is called, and Ctrl-C can end the process before that.
    linewrap: true,
    format: (options, params, payload) =>
      `${Format.BarFormat(params.progress, options)} ${Math.floor(params.progress * 100)} %  ${params.value} of ${params.total} ${unit}  ${payload.rate} ${unit}/s  ${eta(payload.rate, params.total - params.value)}`,
    barCompleteChar: '#',
    barIncompleteChar: '.',
  });
  progress.start(total, startedAt, { rate: 0 });
  return {
    update(done, now) {
      if (now !== undefined) progress.setTotal(now);
      const rate = Math.round(((done - startedAt) * 1000) / Math.max(1, io.clock() - begun));
      progress.update(done, { rate });
    },
    say(text) {
      io.stderr.write(`\r\u001b[K${text}\n`);
    },
    stop: () => progress.stop(),
  };
}

function eta(rate: number, left: number): string {
  if (left === 0) return 'done';
  if (rate === 0) return '';
  const seconds = Math.ceil(left / rate);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} left`;
}

function plain(io: CliIo, unit: string, firstTotal: number, startedAt: number): Progress {
  const begun = io.clock();
  let total = firstTotal;
  let saidAt = begun;
  return {
    update(done, nowTotal = total) {
      total = nowTotal;
      const now = io.clock();
      if (now - saidAt < PLAIN_EVERY_MS) return;
      saidAt = now;
      const rate = Math.round(((done - startedAt) * 1000) / Math.max(1, now - begun));
      io.stderr.write(`${done} of ${total} ${unit}, ${rate} ${unit}/s, ${eta(rate, total - done)}\n`);
    },
    say(text) {
      io.stderr.write(`${text}\n`);
    },
    stop: () => undefined,
  };
}

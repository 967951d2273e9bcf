import progress from 'cli-progress';

const { Format, SingleBar } = progress;

import type { CliIo } from '../cli-io.ts';

/** Shows the progress of an import on standard error. */
export interface ImportProgress {
  update(linesDone: number): void;
  /** Prints a line of text above the progress bar. */
  say(text: string): void;
  stop(): void;
}

const PLAIN_EVERY_MS = 2000;

export function createImportProgress(io: CliIo, lines: number, linesDone: number): ImportProgress {
  return io.stderr.isTTY ? bar(io, lines, linesDone) : plain(io, lines, linesDone);
}

function bar(io: CliIo, lines: number, startedAt: number): ImportProgress {
  const begun = io.clock();
  const progress = new SingleBar({
    stream: io.stderr as NodeJS.WriteStream,
    hideCursor: true,
    format: (options, params, payload) =>
      `${Format.BarFormat(params.progress, options)} ${Math.floor(params.progress * 100)} %  ${params.value} of ${params.total} lines  ${payload.rate} lines/s  ${eta(payload.rate, params.total - params.value)}`,
    barCompleteChar: '#',
    barIncompleteChar: '.',
  });
  progress.start(lines, startedAt, { rate: 0 });
  return {
    update(done) {
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

function plain(io: CliIo, lines: number, startedAt: number): ImportProgress {
  const begun = io.clock();
  let saidAt = begun;
  return {
    update(done) {
      const now = io.clock();
      if (now - saidAt < PLAIN_EVERY_MS) return;
      saidAt = now;
      const rate = Math.round(((done - startedAt) * 1000) / Math.max(1, now - begun));
      io.stderr.write(`${done} of ${lines} lines, ${rate} lines/s, ${eta(rate, lines - done)}\n`);
    },
    say(text) {
      io.stderr.write(`${text}\n`);
    },
    stop: () => undefined,
  };
}

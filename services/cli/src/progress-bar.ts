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
const WAITING_EVERY_MS = 1000;

/** `unit`: the name of the things that are counted, in the plural. `total` and `done` are the numbers at the beginning. */
export function createProgress(io: CliIo, unit: string, total: number, done: number): Progress {
  return io.stderr.isTTY ? bar(io, unit, total, done) : plain(io, unit, total, done);
}

/**
 * Like `createProgress`, but shows nothing until the first `update`, which must name the total. `first`: the number of things that are done at the
 * beginning; default: that of the first `update`.
 */
export function createLaterProgress(io: CliIo, unit: string, first?: number): Progress {
  let begun: Progress | undefined;
  return {
    update(done, total) {
      begun ??= createProgress(io, unit, total ?? 0, first ?? done);
      begun.update(done, total);
    },
    say(text) {
      if (begun === undefined) io.stderr.write(`${text}\n`);
      else begun.say(text);
    },
    stop: () => begun?.stop(),
  };
}

/**
 * Shows on a terminal for how long the command has been waiting for `work`, whose progress is not known. Otherwise shows nothing, because cron sends
 * each output by mail.
 */
export async function showWaiting<T>({ stderr, clock }: CliIo, what: string, work: Promise<T>): Promise<T> {
  if (stderr.isTTY !== true) return work;
  const begun = clock();
  const timer = setInterval(
    () => stderr.write(`\r${what}: ${Math.round((clock() - begun) / 1000)} s`),
    WAITING_EVERY_MS,
  );
  try {
    return await work;
  } finally {
    clearInterval(timer);
    stderr.write('\r\u001b[K');
  }
}

function bar(io: CliIo, unit: string, total: number, startedAt: number): Progress {
  const rateOf = createRate(io, startedAt);
  const progress = new SingleBar({
    stream: io.stderr as NodeJS.WriteStream,
    // With `false`, the terminal does not wrap lines until `stop` is called, and Ctrl-C can end the process before that.
    linewrap: true,
    format: (options, params, payload) =>
      `${Format.BarFormat(params.progress, options)} ${Math.floor(params.progress * 100)} %  ${params.value} of ${params.total} ${unit}  ${payload.rate} ${unit}/s  ${eta(payload.rate, params.total, params.value)}`,
    barCompleteChar: '#',
    barIncompleteChar: '.',
  });
  progress.start(total, startedAt, { rate: 0 });
  return {
    update(done, now) {
      if (now !== undefined) progress.setTotal(now);
      progress.update(done, { rate: rateOf(done) });
    },
    say(text) {
      io.stderr.write(`\r\u001b[K${text}\n`);
    },
    stop: () => progress.stop(),
  };
}

/** Returns a function that computes the rate since the start. If the number becomes smaller, new work has begun, so the rate starts again. */
function createRate(io: CliIo, startedAt: number): (done: number) => number {
  let begun = io.clock();
  let first = startedAt;
  return (done) => {
    if (done < first) [begun, first] = [io.clock(), done];
    return Math.round(((done - first) * 1000) / Math.max(1, io.clock() - begun));
  };
}

/** The time that is left, or `done`. Empty while it cannot be computed. A total of 0 means that the total is not known yet. */
function eta(rate: number, total: number, done: number): string {
  const left = total - done;
  if (total > 0 && left === 0) return 'done';
  if (rate === 0) return '';
  const seconds = Math.ceil(left / rate);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} left`;
}

function plain(io: CliIo, unit: string, firstTotal: number, startedAt: number): Progress {
  const rateOf = createRate(io, startedAt);
  let total = firstTotal;
  let saidAt = io.clock();
  return {
    update(done, nowTotal = total) {
      total = nowTotal;
      const now = io.clock();
      if (now - saidAt < PLAIN_EVERY_MS) return;
      saidAt = now;
      const rate = rateOf(done);
      const parts = [`${done} of ${total} ${unit}`, `${rate} ${unit}/s`, eta(rate, total, done)];
      io.stderr.write(`${parts.filter((part) => part !== '').join(', ')}\n`);
    },
    say(text) {
      io.stderr.write(`${text}\n`);
    },
    stop: () => undefined,
  };
}

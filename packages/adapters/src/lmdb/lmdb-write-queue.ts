import { DependencyError, type DependencyErrorCode } from '@weir/domain/errors';
import type { RootDatabase } from 'lmdb';
import type { FileSpace, SpaceReading, WriteSize } from './lmdb-file-space.ts';

/** A set of writes that is part of the next transaction. */
export interface WriteJob {
  /** Puts and removes rows, synchronously. Must not throw: validate before submitting. */
  stage(): void;
  /** Upper bound of what `stage` writes. Called right before `stage`. */
  size(): WriteSize;
  /**
   * True for large writes. They fail before the disk is completely full, so that the remaining space is enough for offset commits and the
   * admin API.
   */
  readonly isBulk?: boolean;
  /**
   * Must not throw. Called once, also if `stage` was never called. Without `failure`, the transaction is committed. It is also fsynced, unless the
   * environment has the option `noSync`.
   */
  settle(failure: WriteFailure | undefined): void;
}

export interface WriteFailure {
  /** True if the transaction is certainly not in the environment, and will not be later. */
  readonly known: boolean;
  readonly reason: string;
  readonly cause: unknown;
}

export interface WriteQueue {
  /** `ahead`: this job is staged before all other jobs of the transaction, so that their puts replace its removals. */
  submit(job: WriteJob, ahead?: 'ahead'): void;
  /** The failure of the last transaction; `undefined` if it succeeded. */
  lastFailure(): WriteFailure | undefined;
  /** When the running transaction started (a time of `clock`); `undefined` if none is running. */
  underWaySince(): number | undefined;
  /** Resolves when no job is queued or running. */
  idle(): Promise<void>;
}

const KEPT_FROM_BULK_BYTES = 1024 * 1024;

interface Taken {
  readonly jobs: readonly WriteJob[];
  readonly refused: readonly WriteJob[];
  readonly reason: string;
}

/**
 * Group commit: all jobs that are submitted while a transaction runs go into the next transaction, with one fsync. Only one
 * transaction runs at a time, so a `stage` that assigns sequence numbers knows the result of all earlier jobs.
 */
export function createWriteQueue(env: RootDatabase, fileSpace: FileSpace, clock: () => number): WriteQueue {
  let queue: WriteJob[] = [];
  let running: Promise<void> | undefined;
  let startedAt: number | undefined;
  let failure: WriteFailure | undefined;
  let broken: WriteFailure | undefined;

  /**
   * Splits the queue into jobs that fit into the file and jobs that do not. The caller must start the transaction directly after this call,
   * without another await: otherwise the jobs may no longer fit.
   */
  async function splitQueue(): Promise<Taken> {
    try {
      return await growAndSplitQueue();
    } catch (error) {
      const refused = queue;
      queue = [];
      return { jobs: [], refused, reason: error instanceof Error ? error.message : String(error) };
    }
  }

  async function growAndSplitQueue(): Promise<Taken> {
    const space = fileSpace.read();
    let bound = boundOf(queue, space);
    let reason: string | undefined;
    // While the file grows, jobs can be added to the queue, and queued jobs can become larger.
    while (reason === undefined && space.free() < bound) {
      reason = await fileSpace.grow(bound);
      bound = boundOf(queue, space);
    }
    // The space is allocated in the background while this transaction and later ones run.
    if (reason === undefined) fileSpace.topUp(space);
    const waiting = queue;
    queue = [];
    if (reason === undefined || space.free() >= bound) return { jobs: waiting, refused: [], reason: '' };
    const jobs: WriteJob[] = [];
    const refused: WriteJob[] = [];
    for (const job of waiting) (boundOf([...jobs, job], space) <= space.free() ? jobs : refused).push(job);
    return { jobs, refused, reason };
  }

  function boundOf(jobs: readonly WriteJob[], space: SpaceReading): number {
    let keys = 0;
    let bytes = 0;
    let kept = 0;
    for (const job of jobs) {
      const size = job.size();
      keys += size.keys;
      bytes += size.bytes;
      if (job.isBulk) kept = KEPT_FROM_BULK_BYTES;
    }
    return space.boundOf({ keys, bytes }) + kept;
  }

  async function run(): Promise<void> {
    while (queue.length > 0) {
      // Callers whose job has just been settled can submit their next job into this transaction.
      await new Promise(setImmediate);
      const { jobs, refused, reason } = await splitQueue();
      for (const job of refused) job.settle({ known: true, reason, cause: undefined });
      if (jobs.length === 0) continue;
      startedAt = clock();
      failure = broken ?? (await transact(env, jobs));
      // After a write with an unknown result, no later job is staged. So later jobs are certainly not written.
      if (failure?.known === false) broken = { ...failure, known: true };
      startedAt = undefined;
      for (const job of jobs) job.settle(failure);
    }
    running = undefined;
  }

  return {
    submit(job, ahead) {
      if (ahead === undefined) queue.push(job);
      else queue.unshift(job);
      running ??= run();
    },
    lastFailure: () => failure,
    underWaySince: () => startedAt,
    async idle() {
      while (running !== undefined) await running;
    },
  };
}

async function transact(env: RootDatabase, jobs: readonly WriteJob[]): Promise<WriteFailure | undefined> {
  let staged = true;
  try {
    await env.batch(() => {
      staged = false;
      for (const job of jobs) job.stage();
      staged = true;
    });
    return undefined;
  } catch (error) {
    const cause = await causeOf(error);
    // If `stage` threw, LMDB has committed the writes that were staged before. The result is then not known.
    return {
      known: staged && canStillRead(env),
      reason: cause instanceof Error ? cause.message : String(cause),
      cause,
    };
  }
}

/**
 * True if the failed transaction is certainly not in the environment. LMDB writes and syncs all pages before the meta page that
 * makes them valid. A failure before the meta page leaves no changes. After a failure of the meta page the result is unknown, and
 * LMDB refuses all further calls, also reads (MDB_PANIC).
 */
function canStillRead(env: RootDatabase): boolean {
  try {
    env.resetReadTxn();
    env.getKeysCount({ limit: 1 });
    return true;
  } catch {
    return false;
  }
}

/** lmdb rejects with a general error; its `commitError` is a promise that rejects with the error of LMDB. */
function causeOf(error: unknown): Promise<unknown> {
  const detail = (error as { commitError?: Promise<never> }).commitError ?? Promise.reject(error);
  return detail.catch((cause: unknown) => cause);
}

/** The default size of a write, which is enough for a few keys with short values. */
const SMALL: WriteSize = { keys: 4, bytes: 16 * 1024 };

/** Submits a write: `stage` calls put and remove. Resolves when it is committed and `apply` was called. Rejects with `code`. */
export function submitWrite(
  writes: WriteQueue,
  code: DependencyErrorCode,
  stage: () => void,
  { apply, size = SMALL }: { readonly apply?: () => void; readonly size?: WriteSize } = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    writes.submit({
      stage,
      size: () => size,
      settle(failure) {
        if (failure !== undefined) {
          reject(new DependencyError(code, `writing failed: ${failure.reason}`, { cause: failure.cause }));
          return;
        }
        apply?.();
        resolve();
      },
    });
  });
}

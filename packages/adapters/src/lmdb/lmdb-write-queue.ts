import { DependencyError, type DependencyErrorCode, messageOf } from '@weir/domain/errors';
import type { RootDatabase } from 'lmdb';
import type { FileSpace, SpaceReading, WriteSize } from './lmdb-file-space.ts';

/** A set of writes that are committed in one transaction, together with those of other jobs. */
export interface WriteJob {
  /** Puts and removes rows, synchronously. Must not throw: validate before submitting. */
  stage(): void;
  /** Upper bound of what `stage` writes. May be called several times, the last time right before `stage`. */
  size(): WriteSize;
  /**
   * True for large writes. They are refused before the disk is completely full. The remaining space is for small writes, such as offset commits
   * and changes by the admin API.
   */
  readonly isBulk?: boolean;
  /**
   * Called once, also if `stage` was never called. Must not throw. Without `failure`, the transaction is committed, and it is fsynced unless the
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
  /** `ahead`: this job is staged before the jobs in the queue. So if one of them puts a row that this job removes, the row stays. */
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
 * Group commit: all jobs that are submitted while a transaction runs are in the next transaction, with one fsync. Only one
 * transaction runs at a time. So `stage` can assign offsets and sequence numbers: all earlier transactions have ended by then.
 */
export function createWriteQueue(env: RootDatabase, fileSpace: FileSpace, clock: () => number): WriteQueue {
  let queue: WriteJob[] = [];
  let running: Promise<void> | undefined;
  let startedAt: number | undefined;
  let failure: WriteFailure | undefined;
  let broken: WriteFailure | undefined;

  /**
   * Splits the queue into jobs that fit into the file and jobs that do not. The caller must start the transaction directly after this call,
   * without another await: a job can become larger while it waits, and may then no longer fit.
   */
  async function splitQueue(): Promise<Taken> {
    try {
      return await growAndSplitQueue();
    } catch (error) {
      const refused = queue;
      queue = [];
      return { jobs: [], refused, reason: messageOf(error) };
    }
  }

  async function growAndSplitQueue(): Promise<Taken> {
    const space = fileSpace.read();
    let bound = boundOf(queue, space);
    let reason: string | undefined;
    // While the file grows, jobs can be added to the queue, and queued jobs can become larger. So the bound is computed again.
    while (reason === undefined && space.free() < bound) {
      reason = await fileSpace.grow(bound);
      bound = boundOf(queue, space);
    }
    // Allocates space for later transactions in the background, so that they need not wait for it.
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
      // Waits for one turn of the event loop: callers whose job has just been settled can submit another job for this transaction.
      await new Promise(setImmediate);
      const { jobs, refused, reason } = await splitQueue();
      for (const job of refused) job.settle({ known: true, reason, cause: undefined });
      if (jobs.length === 0) continue;
      startedAt = clock();
      failure = broken ?? (await transact(env, jobs));
      // After a write with an unknown result, the queue refuses all later jobs without staging them. So they are certainly not written.
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
    // If a `stage` threw (`staged` is false), LMDB may have committed the writes that were staged before. The result is then not known.
    return {
      known: staged && canStillRead(env),
      reason: messageOf(cause),
      cause,
    };
  }
}

/**
 * True if the failed transaction is certainly not in the environment. LMDB writes and syncs all pages before it writes the meta page, which
 * makes these pages valid. A failure before the meta page leaves no changes. After a failed write of the meta page, the result is unknown, and
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

/** lmdb rejects with a general error. The `commitError` of this error is a promise that rejects with the real cause. */
function causeOf(error: unknown): Promise<unknown> {
  const detail = (error as { commitError?: Promise<never> }).commitError ?? Promise.reject(error);
  return detail.catch((cause: unknown) => cause);
}

/** The default size of a write, which is enough for a few keys with short values. */
const SMALL: WriteSize = { keys: 4, bytes: 16 * 1024 };

/** Submits a write: `stage` calls put and remove. Resolves when the write is committed and `apply` was called. Rejects with `code`. */
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

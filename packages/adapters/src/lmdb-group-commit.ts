import { DependencyError, type DependencyErrorCode } from '@weir/domain/errors';
import type { RootDatabase } from 'lmdb';

/** One part of the next transaction. */
export interface CommitJob {
  /** Puts and removes, synchronously. Must not throw: check everything before submitting. */
  stage(): void;
  /** Called once: without a failure, the transaction is committed (and fsynced, unless the environment is `noSync`). */
  settle(failure: CommitFailure | undefined): void;
}

export interface CommitFailure {
  /** True when nothing of the transaction is in the environment, now or later. */
  readonly known: boolean;
  readonly reason: string;
  readonly cause: unknown;
}

export interface GroupCommit {
  /** `ahead`: staged before everything else of the transaction, so that what others put wins over what it removes. */
  submit(job: CommitJob, ahead?: 'ahead'): void;
  /** The failure of the last transaction; `undefined` when it went well. */
  lastFailure(): CommitFailure | undefined;
  /** When the transaction under way was begun; `undefined` when there is none. */
  underWaySince(): number | undefined;
  /** Resolves when nothing is under way any more. */
  idle(): Promise<void>;
}

/**
 * Everything that is submitted while one transaction is being written goes into the next one, all together: one fsync for
 * all of them. Never two at once, so that whoever numbers things in `stage` knows the outcome of what came before.
 */
export function createGroupCommit(env: RootDatabase, clock: () => number): GroupCommit {
  let queue: CommitJob[] = [];
  let running: Promise<void> | undefined;
  let startedAt: number | undefined;
  let failure: CommitFailure | undefined;
  let broken: CommitFailure | undefined;

  async function run(): Promise<void> {
    while (queue.length > 0) {
      // A turn of the event loop, so that everybody who was just answered gets into this transaction too.
      await new Promise(setImmediate);
      const jobs = queue;
      queue = [];
      startedAt = clock();
      failure = broken ?? (await transact(env, jobs));
      // LMDB takes no more writes once it could not tell what became of one: what comes now is certainly not written.
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

async function transact(env: RootDatabase, jobs: readonly CommitJob[]): Promise<CommitFailure | undefined> {
  try {
    await env.batch(() => {
      for (const job of jobs) job.stage();
    });
    return undefined;
  } catch (error) {
    const cause = await causeOf(error);
    return { known: canStillRead(env), reason: cause instanceof Error ? cause.message : String(cause), cause };
  }
}

/**
 * LMDB writes and syncs all pages before the one page that makes them count, and a failure until then leaves nothing. After
 * a failure of that last write nobody knows, and LMDB refuses everything from then on, new reads too (MDB_PANIC).
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

/** lmdb rejects with a general error whose `commitError` is a promise that rejects with LMDB's own. */
function causeOf(error: unknown): Promise<unknown> {
  const detail = (error as { commitError?: Promise<never> }).commitError ?? Promise.reject(error);
  return detail.catch((cause: unknown) => cause);
}

/** Submits puts and removes; resolves when committed and after `apply`, rejects with `code`. */
export function committed(
  commit: GroupCommit,
  code: DependencyErrorCode,
  stage: () => void,
  apply?: () => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    commit.submit({
      stage,
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

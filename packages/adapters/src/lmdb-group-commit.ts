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

/** Writing failed before LMDB pointed to the new pages, for want of room. */
const NO_ROOM = new Set(['ENOSPC', 'EFBIG', 'EDQUOT', 'MDB_MAP_FULL']);
const NO_ROOM_NUMBERS = new Set([27, 28, 122, -30792]);

/**
 * Everything that is submitted while one transaction is being written goes into the next one, all together: one fsync for
 * all of them. Never two at once, so that whoever numbers things in `stage` knows the outcome of what came before.
 */
export function createGroupCommit(env: RootDatabase, clock: () => number): GroupCommit {
  let queue: CommitJob[] = [];
  let running: Promise<void> | undefined;
  let startedAt: number | undefined;
  let failure: CommitFailure | undefined;

  async function run(): Promise<void> {
    while (queue.length > 0) {
      // A turn of the event loop, so that everybody who was just answered gets into this transaction too.
      await new Promise(setImmediate);
      const jobs = queue;
      queue = [];
      startedAt = clock();
      failure = await transact(env, jobs);
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
    const known = isNoRoom(cause);
    return { known, reason: cause instanceof Error ? cause.message : String(cause), cause };
  }
}

/** lmdb rejects with a general error whose `commitError` is a promise that rejects with LMDB's own. */
async function causeOf(error: unknown): Promise<unknown> {
  const detail = (error as { commitError?: Promise<never> }).commitError;
  if (detail === undefined) return error;
  return detail.then(
    () => error,
    (cause: unknown) => cause,
  );
}

function isNoRoom(cause: unknown): boolean {
  const code = (cause as { code?: unknown }).code;
  return typeof code === 'number' ? NO_ROOM_NUMBERS.has(code) : NO_ROOM.has(String(code));
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

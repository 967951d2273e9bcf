import type { GroupCommit } from './lmdb-group-commit.ts';
import type { PartitionLog } from './lmdb-partition-log.ts';

const CHECK_EVERY_MS = 60_000;
/** Of one partition, per transaction: what follows waits for the next transaction, so that appends are not held up. */
const REMOVED_ENTRIES_MAX = 500;

interface RetentionDeps {
  readonly logs: () => readonly PartitionLog[];
  readonly retentionMs: (topic: string) => number;
  readonly commit: GroupCommit;
  readonly clock: () => number;
}

export interface Retention {
  stop(): void;
}

/** Removes what is older than its topic's retention, at the start and each minute. A failed removal is tried again then. */
export function startRetention({ logs, retentionMs, commit, clock }: RetentionDeps): Retention {
  let stopped = false;

  function remove(log: PartitionLog): void {
    let removed = 0;
    commit.submit({
      stage() {
        removed = stopped ? 0 : log.stageRemoval(clock() - retentionMs(log.topic), REMOVED_ENTRIES_MAX);
      },
      settle(failure) {
        if (failure === undefined && removed === REMOVED_ENTRIES_MAX) remove(log);
      },
    });
  }

  function check(): void {
    for (const log of logs()) {
      if (log.oldestAppendedAt() < clock() - retentionMs(log.topic)) remove(log);
    }
  }

  check();
  const timer = setInterval(check, CHECK_EVERY_MS).unref();
  return {
    stop() {
      stopped = true;
      clearInterval(timer);
    },
  };
}

import type { AppendOutcome, Commit } from '@weir/ports/event-log';
import type { EncodedEntry, PartitionLog } from '../lmdb-partition-log.ts';
import type { CommitStore } from '../lmdb-partition-loop.ts';

export const BUFFER_FULL = 'the buffer of unwritten records is full';

/**
 * The part of the log that another thread of this process calls (through lmdb-thread-log.ts). Only the thread that owns the log writes to the
 * files. So the appends and commits of both threads are in the same transactions.
 */
export interface LogForThread {
  readonly logId: string;
  readonly partitionCount: number;
  /** Appends entries to one partition, next to each other. Resolves with the outcome of the first record of each entry. */
  appendEntries(topic: string, partition: number, entries: readonly EncodedEntry[]): Promise<readonly AppendOutcome[]>;
  commit(topic: string, group: string, partition: number, commit: Commit): Promise<void>;
  /** Returns the end offset of each partition. Calls `onEnd` after each later change of an end offset. */
  follow(topic: string, onEnd: (partition: number, end: number) => void): readonly number[];
}

export interface LogForThreadDeps {
  readonly logId: string;
  readonly partitionCount: number;
  readonly partitionsOf: (topic: string) => readonly PartitionLog[];
  readonly commitStore: (topic: string, group: string, partition: number) => CommitStore;
  /** Returns the reason why the log accepts no append now; undefined if it accepts appends. */
  readonly refusal: () => string | undefined;
  /**
   * Counts bytes as unwritten until `release`. If other bytes are unwritten and the sum would exceed the limit of the log, counts nothing and returns
   * false.
   */
  readonly reserve: (bytes: number) => boolean;
  readonly release: (bytes: number) => void;
}

export function createLogForThread(deps: LogForThreadDeps): LogForThread {
  const { logId, partitionCount, partitionsOf, commitStore, refusal, reserve, release } = deps;
  return {
    logId,
    partitionCount,
    async appendEntries(topic, partition, entries) {
      const log = partitionOf(topic, partition);
      let refused = refusal();
      const append = (entry: EncodedEntry): Promise<AppendOutcome> | AppendOutcome => {
        // If an entry is refused, all later entries of this call must be refused too (`EventLog.append` in ports/event-log.ts).
        if (refused !== undefined || !reserve(entry.valueBytes)) {
          refused ??= BUFFER_FULL;
          return { status: 'refused', reason: refused };
        }
        return new Promise((resolve) => {
          log.appendEntry(entry, (outcome) => {
            release(entry.valueBytes);
            resolve(outcome);
          });
        });
      };
      return Promise.all(entries.map(append));
    },
    commit: (topic, group, partition, commit) => commitStore(topic, group, partition).write(commit),
    follow(topic, onEnd) {
      return partitionsOf(topic).map((log) => {
        const tell = (): void => {
          onEnd(log.partition, log.end());
          log.onAvailable(log.end(), tell);
        };
        log.onAvailable(log.end(), tell);
        return log.end();
      });
    },
  };

  function partitionOf(topic: string, partition: number): PartitionLog {
    const log = partitionsOf(topic)[partition];
    if (log === undefined) throw new RangeError(`there is no partition ${partition}: the log has ${partitionCount}`);
    return log;
  }
}

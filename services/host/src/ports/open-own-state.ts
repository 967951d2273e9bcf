import { join } from 'node:path';
import { openLmdbStateStore } from '@weir/adapters/lmdb/state/lmdb-state-store';
import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/records/topics';
import type { DiskSpace } from '@weir/ports/disk-space';
import { IDEMPOTENCY_WINDOW_MS, type StateStore } from '@weir/ports/state-store';
import type { Config } from '@weir/runtime/config/config';

export interface OpenOwnStateDeps {
  readonly config: Pick<Config, 'dataDir' | 'rawRetentionMs'>;
  readonly clock: () => number;
  readonly disk: DiskSpace | undefined;
}

/** The part of the embedded log that this file needs. `LmdbEventLog` (in the thread that owns the log) and `ThreadLog` (in other threads) have it. */
export interface LogWithUnread {
  oldestUnreadAt(topic: string, group: string): Promise<number>;
}

/** Opens the state of the enricher in the data folder. `log` is undefined with Kafka. */
export function openOwnState(
  { config, clock, disk }: OpenOwnStateDeps,
  log: LogWithUnread | undefined,
): Promise<StateStore> {
  // A first-seen key (docs/glossary.md) is needed until all possible duplicates are processed. With Kafka, the enricher lags by at most the
  // retention of the raw topic. The embedded log keeps unread records for longer: `oldestUnreadAt` then extends the time.
  const firstSeenKeptMs = config.rawRetentionMs + IDEMPOTENCY_WINDOW_MS;
  const unread = log && { oldestUnreadAt: () => log.oldestUnreadAt(TOPIC_RAW, GROUP_ENRICHER) };
  return openLmdbStateStore({ folder: join(config.dataDir, 'state'), clock, disk, firstSeenKeptMs, ...unread });
}

/** Opens the claims of idempotency keys in the data folder. */
export function openOwnClaims({ config, clock, disk }: OpenOwnStateDeps): Promise<StateStore> {
  return openLmdbStateStore({ folder: join(config.dataDir, 'claims'), clock, disk });
}

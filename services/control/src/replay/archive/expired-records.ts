import { TOPIC_ENRICHED } from '@weir/domain/records/topics';
import type { ArchivedRange, ExpiredRecords, ReplayChunk } from '@weir/domain/registry/replay';
import type { Analytics } from '@weir/ports/analytics';
import type { ObjectStore } from '@weir/ports/object-store';
import type { ShadowTables } from '@weir/ports/shadow-tables';
import { listExpiredStarts } from '@weir/runtime/archive/expired-start';

/** The column `reason` of a row with the outcome `expired`, if the archive has deleted the record because of its age. */
export const EXPIRED_IN_ARCHIVE = 'archive';

/**
 * Lists the records that the archive has deleted because they were too old. Records of the present event log (`logId`) are not listed, only those of
 * the event logs that were in use before it. `archived`: the ranges that the replay has read from the archive.
 */
export async function listExpired(
  store: ObjectStore,
  logId: string,
  archived: readonly ArchivedRange[] = [],
): Promise<readonly ExpiredRecords[]> {
  const starts = await listExpiredStarts(store, `${TOPIC_ENRICHED}/`);
  return starts
    .filter((start) => start.logId !== logId)
    .map(({ storedAt, rawNext, ...place }) => {
      const firsts = rangesOf(archived, place).map(({ from }) => from);
      // All raw offsets below `rawNext` have expired. If a damaged segment has expired, `rawNext` is too low. But all raw offsets below the lowest
      // one that the replay has read from the archive have expired too. So the higher of these two limits is right.
      const first = firsts.length === 0 ? 0 : Math.min(...firsts);
      return { logId: place.logId, partition: place.partition, rawNext: Math.max(rawNext, first), storedAt };
    });
}

/**
 * Divides the expired records into chunks. Leaves out full chunks of which the tables have all rows. `copied`: the number of copied rows of a chunk.
 * Never leaves out a last chunk that is not full, because its copied rows can belong to later records, which have not expired.
 */
export function expiredChunks(
  expired: readonly ExpiredRecords[],
  chunkOffsets: number,
  copied: (chunk: ReplayChunk) => number,
): readonly (ReplayChunk & { readonly records: number })[] {
  return expired.flatMap(({ logId, partition, rawNext }) =>
    Array.from({ length: Math.ceil(rawNext / chunkOffsets) }, (_, nth) => {
      const chunk = { logId, partition, month: 0, nth, isExpired: true as const };
      const offsets = Math.min(chunkOffsets, rawNext - nth * chunkOffsets);
      return { ...chunk, records: Math.max(offsets < chunkOffsets ? 1 : 0, offsets - copied(chunk)) };
    }).filter(({ records }) => records > 0),
  );
}

/**
 * Inserts a row `expired` into the shadow tables (docs/glossary.md) for each raw offset of the chunk for which neither the live tables nor the
 * archive have a row. While a replay runs, the live tables get no more raw offsets of earlier event logs, and the list of archived ranges stays the
 * same. So a repeat inserts the same rows with the same token.
 */
export async function insertExpired(
  { analytics, shadow }: { readonly analytics: Pick<Analytics, 'change'>; readonly shadow: ShadowTables },
  { replayId, chunkOffsets }: { readonly replayId: string; readonly chunkOffsets: number },
  { logId, partition, nth }: ReplayChunk,
  expired: readonly ExpiredRecords[],
  archived: readonly ArchivedRange[],
): Promise<void> {
  const own = expired.find((one) => one.logId === logId && one.partition === partition);
  if (own === undefined) return;
  const from = nth * chunkOffsets;
  const to = Math.min(from + chunkOffsets, own.rawNext);
  const time = `fromUnixTimestamp64Milli(toInt64(${own.storedAt}), 'UTC')`;
  const held = `SELECT raw_offset FROM ${shadow.live}.records WHERE log_id = '${logId}' AND raw_partition = ${partition} AND raw_offset >= ${from} AND raw_offset < ${to}`;
  const read = rangesOf(archived, own).map((range) => ` AND NOT (number >= ${range.from} AND number <= ${range.to})`);
  await analytics.change(
    `INSERT INTO ${shadow.shadow}.records (outcome, reason, timestamp, received_at, log_id, raw_partition, raw_offset)
     SELECT 'expired', '${EXPIRED_IN_ARCHIVE}', ${time}, ${time}, '${logId}', ${partition}, number
     FROM numbers(${from}, ${to - from}) WHERE number NOT IN (${held})${read.join('')} ORDER BY number`,
    `expired:${replayId}:${logId}:${partition}:${nth}`,
  );
}

function rangesOf(
  archived: readonly ArchivedRange[],
  { logId, partition }: Pick<ExpiredRecords, 'logId' | 'partition'>,
): readonly ArchivedRange[] {
  return archived.filter((range) => range.logId === logId && range.partition === partition && range.from <= range.to);
}

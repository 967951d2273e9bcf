import { decodeRawRecord } from '@weir/domain/records/raw-record';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import { readRawRecord } from '../topics/read-raw-record.ts';

/** The faults of a raw partition: missing and repeated raw offsets. */
export interface Unbalanced {
  readonly missing: number;
  readonly repeated: number;
  /**
   * The first ranges of missing raw offsets (docs/glossary.md), as `site first-last`. The site is that of the first record of the range. It is empty
   * if this record has expired or cannot be read.
   */
  readonly missingOffsets: readonly string[];
  /** The first repeated raw offsets, as `site offset`. */
  readonly repeatedOffsets: readonly string[];
}

const SHOWN_MAX = 10;
/** The limits of the statements that read the raw offsets of a whole table. */
export const AUDIT_LIMITS = ' SETTINGS max_memory_usage = 2147483648, max_execution_time = 100, max_threads = 2';

export interface ComparedPartition {
  readonly partition: number;
  /**
   * The checkpoint: an earlier check found exactly one outcome for each lower offset. Faults below the checkpoint are searched only if the number of
   * rows below it, or the number of different offsets below it, has changed since then.
   */
  readonly from: number;
  /** Each offset below `end` must be stored. The table can also have higher offsets, which were inserted later. */
  readonly end: number;
}

/** Finds the raw offsets of a partition of the present log that have no outcome, and those that have several. */
export async function findUnbalanced(
  { select }: Pick<Analytics, 'select'>,
  eventLog: Pick<EventLog, 'logId' | 'read'>,
  { partition, from, end }: ComparedPartition,
): Promise<Unbalanced> {
  const offsets = 'FROM records WHERE log_id = {log:String} AND raw_partition = {partition:UInt32}';
  const [sums] = await select<Readonly<Record<'records' | 'distinct' | 'above' | 'distinctAbove' | 'next', number>>>(
    `SELECT count() AS records, groupBitmap(raw_offset) AS distinct, countIf(raw_offset >= {from:UInt64}) AS above,
       groupBitmapIf(raw_offset, raw_offset >= {from:UInt64}) AS distinctAbove, if(records = 0, 0, max(raw_offset) + 1) AS next
     ${offsets}${AUDIT_LIMITS}`,
    { log: eventLog.logId, partition, from },
  );
  const [records, distinct, next] = [Number(sums?.records), Number(sums?.distinct), Number(sums?.next)];
  const isWholeBelow = records - Number(sums?.above) === from && distinct - Number(sums?.distinctAbove) === from;
  const first = isWholeBelow ? from : 0;
  const params = { log: eventLog.logId, partition, first, before: first - 1, shown: SHOWN_MAX };
  const range = `${offsets} AND raw_offset >= {first:UInt64}`;
  const several = await select<{ offset: number; site: string }>(
    `SELECT raw_offset AS offset, any(site_id) AS site ${range} GROUP BY raw_offset HAVING count() > 1
     ORDER BY raw_offset LIMIT {shown:UInt32}${AUDIT_LIMITS}`,
    params,
  );
  const holes = await select<{ first: number; next: number }>(
    `SELECT before + 1 AS first, raw_offset AS next FROM (
       SELECT raw_offset, lagInFrame(toInt64(raw_offset), 1, {before:Int64}) OVER (ORDER BY raw_offset ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before ${range})
     WHERE raw_offset > before + 1 ORDER BY raw_offset LIMIT {shown:UInt32}${AUDIT_LIMITS}`,
    params,
  );
  const tail = next < end && holes.length < SHOWN_MAX ? [{ first: Math.max(next, first), next: end }] : [];
  const missingOffsets: string[] = [];
  for (const hole of [...holes, ...tail]) {
    const site = await siteOf(eventLog, partition, Number(hole.first));
    missingOffsets.push(`${site} ${hole.first}-${Number(hole.next) - 1}`);
  }
  return {
    missing: Math.max(next, end) - distinct,
    repeated: records - distinct,
    missingOffsets,
    repeatedOffsets: several.map(({ offset, site }) => `${site} ${offset}`),
  };
}

async function siteOf(eventLog: Pick<EventLog, 'read'>, partition: number, offset: number): Promise<string> {
  const raw = await readRawRecord(eventLog, partition, offset);
  try {
    return raw === undefined ? '' : decodeRawRecord(raw).siteId;
  } catch {
    return '';
  }
}

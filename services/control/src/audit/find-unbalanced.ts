import { decodeRawRecord } from '@weir/domain/records/raw-record';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';

/** What is wrong in a raw partition. */
export interface Unbalanced {
  readonly missing: number;
  readonly repeated: number;
  /** The first places, as `site first-last`. The site is empty if the record has expired or cannot be read. */
  readonly missingOffsets: readonly string[];
  /** The first places, as `site offset`. */
  readonly repeatedOffsets: readonly string[];
}

const SHOWN_MAX = 10;
/** The log returns at least one record for any limit of bytes. */
const ONE_RECORD_BYTES = 1;

/** Reads all raw offsets of a partition of the present log, and finds those without an outcome and those with several. */
export async function findUnbalanced(
  { select }: Pick<Analytics, 'select'>,
  eventLog: Pick<EventLog, 'logId' | 'read'>,
  partition: number,
): Promise<Unbalanced> {
  const params = { log: eventLog.logId, partition, shown: SHOWN_MAX };
  const offsets = 'FROM records WHERE log_id = {log:String} AND raw_partition = {partition:UInt32}';
  const [sums] = await select<{ records: number; distinct: number; highest: number }>(
    `SELECT count() AS records, groupBitmap(raw_offset) AS distinct, max(raw_offset) AS highest ${offsets}`,
    params,
  );
  const [records, distinct, highest] = [sums?.records, sums?.distinct, sums?.highest].map((value) =>
    Number(value ?? 0),
  );
  const several = await select<{ offset: number; site: string }>(
    `SELECT raw_offset AS offset, any(site_id) AS site ${offsets} GROUP BY raw_offset HAVING count() > 1 ORDER BY raw_offset LIMIT {shown:UInt32}`,
    params,
  );
  const holes = await select<{ first: number; next: number }>(
    `SELECT before + 1 AS first, raw_offset AS next FROM (
       SELECT raw_offset, lagInFrame(toInt64(raw_offset), 1, -1) OVER (ORDER BY raw_offset ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS before ${offsets})
     WHERE raw_offset > before + 1 ORDER BY raw_offset LIMIT {shown:UInt32}`,
    params,
  );
  const missingOffsets: string[] = [];
  for (const { first, next } of holes) {
    missingOffsets.push(`${await siteOf(eventLog, partition, Number(first))} ${first}-${Number(next) - 1}`);
  }
  return {
    missing: (highest ?? 0) + 1 - (distinct ?? 0),
    repeated: (records ?? 0) - (distinct ?? 0),
    missingOffsets,
    repeatedOffsets: several.map(({ offset, site }) => `${site} ${offset}`),
  };
}

async function siteOf(eventLog: Pick<EventLog, 'read'>, partition: number, offset: number): Promise<string> {
  const [stored] = await eventLog.read(TOPIC_RAW, partition, offset, ONE_RECORD_BYTES);
  if (stored?.offset !== offset) return '';
  try {
    return decodeRawRecord(Uint8Array.from(stored.value)).siteId;
  } catch {
    return '';
  }
}

import { compileErasures } from '@weir/domain/erasure/erases';
import { letterTexts } from '@weir/domain/erasure/letter-texts';
import type { Tombstone } from '@weir/domain/erasure/tombstone';
import type { Analytics } from '@weir/ports/analytics';
import type { RawPlace } from './person-sql.ts';

interface DeadRow {
  readonly log_id: string;
  readonly raw_partition: number | string;
  readonly raw_offset: number | string;
  readonly received: number | string;
  readonly payload: string;
}

const PAGE_ROWS = 200;

/** Finds the dead letters of erased persons. A dead letter has no IDs in columns and may have no site, so its payload is searched. */
export async function findLetters(
  analytics: Pick<Analytics, 'select'>,
  database: string,
  parts: readonly Tombstone[],
): Promise<readonly RawPlace[]> {
  const erases = compileErasures(parts);
  const siteId = parts[0]?.siteId ?? '';
  const found: RawPlace[] = [];
  for (let after: readonly [string, number, number] = ['', 0, 0]; ; ) {
    const rows = await analytics.select<DeadRow>(
      `SELECT log_id, raw_partition, raw_offset, toUnixTimestamp64Milli(received_at) AS received,
         if(JSONType(detail, 'payload') = 'String', JSONExtractString(detail, 'payload'), JSONExtractRaw(detail, 'payload')) AS payload
       FROM ${database}.records
       WHERE outcome = 'dead' AND site_id IN ({siteId:String}, '')
         AND (log_id, raw_partition, raw_offset) > ({log:String}, {partition:UInt32}, {offset:UInt64})
       ORDER BY log_id, raw_partition, raw_offset LIMIT ${PAGE_ROWS}`,
      { siteId, log: after[0], partition: after[1], offset: after[2] },
    );
    for (const { log_id, raw_partition, raw_offset, received, payload } of rows) {
      const place = { logId: log_id, partition: Number(raw_partition), offset: Number(raw_offset) };
      after = [place.logId, place.partition, place.offset];
      if (erases?.letter(letterTexts(payload), Number(received))) found.push(place);
    }
    if (rows.length < PAGE_ROWS) return found;
  }
}

import { DUMP_COLUMNS, DUMP_OUTCOMES, dumpEndLine, dumpHeadLine } from '@weir/domain/dump/dump-format';
import { END_MS } from '@weir/domain/ingest/timestamp';
import type { RecordsColumn } from '@weir/domain/records/records-columns';
import { formatTime } from '../format-time.ts';
import { rowsBetween } from '../rows-between.ts';
import { EXPORT_SECONDS_MAX, type ExportDeps } from './export-deps.ts';
import type { ExportRequest } from './export-request.ts';

const VALUES: Readonly<Partial<Record<RecordsColumn, string>>> = {
  timestamp: 'toUnixTimestamp64Milli(timestamp)',
  received_at: 'toUnixTimestamp64Milli(received_at)',
  // A dump has the properties as a string that contains JSON. A program that parses the dump as JSON would round long integers in an object.
  properties: 'toString(properties)',
};

const ROWS = `FROM records
WHERE site_id = {site:String}
  AND ${rowsBetween('{from:Int64}', '{to:Int64}')}
  AND outcome IN {outcomes:Array(String)}`;

/**
 * A dump is sorted by the month of received_at. The table `records` has one partition per month, and one insert can contain rows of only one
 * partition. So the writer needs few inserts when the sorted dump is imported. Within a month, the rows have the order of the table's sorting key, so
 * ClickHouse only merges sorted parts and does not sort.
 */
const MONTHS = `SELECT DISTINCT toYYYYMM(received_at) AS month\n${ROWS}\nORDER BY month`;
const OF_MONTH = `SELECT ${DUMP_COLUMNS.map((column) => VALUES[column] ?? column).join(', ')}
${ROWS}
  AND toYYYYMM(received_at) = {month:UInt32}
ORDER BY site_id, toStartOfHour(timestamp), visitor_id, timestamp`;

const NEWLINE = 10;

/** Returns the bytes of a dump, in pieces of any length. Rejects if ClickHouse is not available when the dump begins. */
export async function dumpLines(
  { site, sinceMs, untilMs }: ExportRequest,
  { exportedTables, clock, signal }: ExportDeps,
): Promise<AsyncIterable<Uint8Array | string>> {
  const params = { site: site.siteId, from: sinceMs ?? 0, to: untilMs ?? END_MS, outcomes: DUMP_OUTCOMES };
  const months = await exportedTables.select<{ month: number }>(MONTHS, params);
  return lines();

  async function* lines() {
    yield dumpHeadLine(site, formatTime(clock()));
    let rows = 0;
    for (const { month } of months) {
      const ofMonth = await exportedTables.streamQuery(
        OF_MONTH,
        { ...params, month },
        { format: 'JSONCompactEachRow', secondsMax: EXPORT_SECONDS_MAX, signal },
      );
      for await (const piece of ofMonth as AsyncIterable<Buffer>) {
        // Each line feed ends a row: JSON writes a line break inside a string as \n.
        for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, at + 1)) rows += 1;
        yield piece;
      }
    }
    yield dumpEndLine(rows);
  }
}

import { DUMP_COLUMNS, DUMP_OUTCOMES, dumpEndLine, dumpHeadLine } from '@weir/domain/dump/dump-format';
import { END_MS } from '@weir/domain/ingest/timestamp';
import type { RecordsColumn } from '@weir/domain/records/records-columns';
import { formatTime } from '../format-time.ts';
import { EXPORT_SECONDS_MAX, type ExportDeps } from './export-deps.ts';
import type { ExportRequest } from './export-request.ts';

const VALUES: Readonly<Partial<Record<RecordsColumn, string>>> = {
  timestamp: 'toUnixTimestamp64Milli(timestamp)',
  received_at: 'toUnixTimestamp64Milli(received_at)',
  // As a text, so that no reader rounds its numbers.
  properties: 'toString(properties)',
};

const ROWS = `FROM records
WHERE site_id = {site:String}
  AND timestamp >= fromUnixTimestamp64Milli({from:Int64}) AND timestamp < fromUnixTimestamp64Milli({to:Int64})
  AND outcome IN {outcomes:Array(String)}`;

/**
 * A month of received_at is one partition of `records`. A file in their order is imported without cutting the writer's inserts at every
 * change of the month. Within a month, the order is that of the table: ClickHouse merges its parts and sorts nothing.
 */
const MONTHS = `SELECT DISTINCT toYYYYMM(received_at) AS month\n${ROWS}\nORDER BY month`;
const OF_MONTH = `SELECT ${DUMP_COLUMNS.map((column) => VALUES[column] ?? column).join(', ')}
${ROWS}
  AND toYYYYMM(received_at) = {month:UInt32}
ORDER BY site_id, toStartOfHour(timestamp), visitor_id, timestamp`;

const NEWLINE = 10;

/** A dump (dump-format.ts), in pieces of any length. Rejects if ClickHouse is not available now. */
export async function dumpLines(
  { site, sinceMs, untilMs }: ExportRequest,
  { exportedTables, clock }: ExportDeps,
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
        { format: 'JSONCompactEachRow', secondsMax: EXPORT_SECONDS_MAX },
      );
      for await (const piece of ofMonth as AsyncIterable<Buffer>) {
        // A line break within a text is written as \n.
        for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, at + 1)) rows += 1;
        yield piece;
      }
    }
    yield dumpEndLine(rows);
  }
}

import { RECORDS_COLUMNS_BY_VERSION } from '@weir/domain/records/records-columns';
import type { ArchivedRange, ReplayScope, ReplayStart } from '@weir/domain/registry/replay';
import type { Condition } from '../audit/rows-above.ts';

/** A row that the writer of a replay reads from the log or the archive, with the values that decide whether the replay writes it. */
export interface ReplayedRow {
  readonly rawOffset: number;
  readonly version: number;
  readonly receivedAt: number;
  readonly line: Uint8Array;
}

/**
 * Returns a condition for the rows of the live `records` that are copied, because the replay does not replace them. These are the rows of
 * earlier logs, the rows before the first replayed raw offset (docs/glossary.md) of their partition, and the rows outside of the scope. Two
 * kinds of rows are not copied: rows that were stored after the start of the replay, and rows in the scope that were read from the archive. For
 * each row of the log from the first replayed raw offset on, either this condition or `takesRow` is true, but not both. The exception is
 * described in rows-without-site.ts.
 */
export function copiedRows(
  logId: string,
  starts: readonly ReplayStart[],
  scope: ReplayScope,
  archived: readonly ArchivedRange[] = [],
): Condition {
  const byPartition = (name: string) =>
    `transform(raw_partition, arrayMap(n -> toUInt32(n), range({partitions:UInt32})), {${name}:Array(UInt64)}, toUInt64(18446744073709551615))`;
  const sql =
    `(log_id != {log:String} OR (raw_offset < ${byPartition('ends')} AND ` +
    `NOT (raw_offset >= ${byPartition('firsts')} AND ${scopeSql(scope)})))${archived.length === 0 ? '' : ` AND NOT (${scopeSql(scope)} AND ${IS_ARCHIVED})`}`;
  return {
    sql,
    params: {
      log: logId,
      partitions: starts.length,
      firsts: starts.map(({ rawOffset }) => rawOffset),
      ends: starts.map(({ rawEnd }) => rawEnd),
      ...scopeParams(scope),
      ...(archived.length === 0
        ? {}
        : {
            archived_logs: archived.map((range) => range.logId),
            archived_partitions: archived.map(({ partition }) => partition),
            archived_from: archived.map(({ from }) => from),
            archived_to: archived.map(({ to }) => to),
          }),
    },
  };
}

const IS_ARCHIVED =
  'arrayExists((l, p, a, b) -> log_id = l AND raw_partition = p AND raw_offset >= a AND raw_offset <= b, {archived_logs:Array(String)}, ' +
  '{archived_partitions:Array(UInt32)}, {archived_from:Array(UInt64)}, {archived_to:Array(UInt64)})';

/** A condition for the rows of one partition that the replay has written. */
export function replayedRows(logId: string, partition: number, start: ReplayStart, scope: ReplayScope): Condition {
  return {
    sql:
      'log_id = {log:String} AND raw_partition = {partition:UInt32} AND raw_offset >= {first:UInt64} AND ' +
      `(raw_offset >= {end:UInt64} OR ${scopeSql(scope)})`,
    params: { log: logId, partition, first: start.rawOffset, end: start.rawEnd, ...scopeParams(scope) },
  };
}

export function isWhole({ sinceMs, untilMs, siteId }: ReplayScope): boolean {
  return sinceMs === undefined && untilMs === undefined && siteId === undefined;
}

function scopeSql({ sinceMs, untilMs, siteId }: ReplayScope): string {
  const conditions = [
    ...(sinceMs === undefined ? [] : ['received_at >= fromUnixTimestamp64Milli({since:Int64})']),
    ...(untilMs === undefined ? [] : ['received_at < fromUnixTimestamp64Milli({until:Int64})']),
    ...(siteId === undefined ? [] : ['site_id = {site:String}']),
  ];
  return conditions.length === 0 ? '1' : `(${conditions.join(' AND ')})`;
}

function scopeParams({ sinceMs, untilMs, siteId }: ReplayScope): Readonly<Record<string, unknown>> {
  return {
    ...(sinceMs === undefined ? {} : { since: sinceMs }),
    ...(untilMs === undefined ? {} : { until: untilMs }),
    ...(siteId === undefined ? {} : { site: siteId }),
  };
}

/** Whether the replay writes this row of the log: the row is in the scope, or it was stored after the start of the replay. */
export function takesRow(row: ReplayedRow, start: ReplayStart, { sinceMs, untilMs, siteId }: ReplayScope): boolean {
  if (row.rawOffset >= start.rawEnd) return true;
  if (sinceMs !== undefined && row.receivedAt < sinceMs) return false;
  if (untilMs !== undefined && row.receivedAt >= untilMs) return false;
  return siteId === undefined || siteOf(row) === siteId;
}

/** Returns the site of a row. Parses the whole line only if its first bytes do not contain the site. */
function siteOf({ line, version }: ReplayedRow): unknown {
  const nth = RECORDS_COLUMNS_BY_VERSION[version]?.indexOf('site_id') ?? 0;
  const head = Buffer.from(line.buffer, line.byteOffset, Math.min(line.byteLength, HEAD_BYTES)).toString();
  const texts = head.match(TEXTS_AT_START)?.[0];
  const found = texts === undefined ? undefined : [...texts.matchAll(TEXT)][nth]?.[0];
  if (found !== undefined) return JSON.parse(found);
  return (JSON.parse(Buffer.from(line).toString()) as unknown[])[nth];
}

const HEAD_BYTES = 512;
const TEXTS_AT_START = /^\[(?:"(?:[^"\\]|\\.)*",)+/;
const TEXT = /"(?:[^"\\]|\\.)*"/g;

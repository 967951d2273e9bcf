import type { ExportFormat, ExportKind } from '@weir/domain/dump/export-kinds';
import { END_MS } from '@weir/domain/ingest/timestamp';
import { SESSIONS, type Statement } from '../reports/report-sql.ts';
import { reportParts } from '../reports/visits/report-parts.ts';
import type { ExportRequest } from './export-request.ts';

/** The kinds of export that contain the rows of one table. `everything` combines several outcomes and has its own format. */
export type TableKind = Exclude<ExportKind, 'everything'>;

export interface TableColumn {
  readonly name: string;
  /** The type in ClickHouse. */
  readonly type: string;
}

/** The column to which the parameters `since` and `until` apply. */
const TIMES: Readonly<Record<TableKind, string>> = {
  events: 'timestamp',
  sessions: 'started_at',
  profiles: 'last_seen_at',
  payments: 'timestamp',
};

/** The statement that selects the rows of a table. The rows have no particular order, because sorting them would need memory. */
export function exportStatement(
  kind: TableKind,
  { site, format, sinceMs, untilMs, filters }: ExportRequest,
  columns: readonly TableColumn[],
): Statement {
  const period = { zone: 'UTC', fromMs: sinceMs ?? 0, toMs: untilMs ?? END_MS };
  const scope = { siteId: site.siteId, period, withBots: true, withInternalEvents: true, filters, visits: SESSIONS };
  if (kind === 'events') {
    const { parameters, tables, hits } = reportParts(
      scope,
      undefined,
      columns.map(({ name }) => name),
    );
    return { sql: `${tables}\nSELECT ${selected(columns, format, 'hit')}\nFROM ${hits}`, params: parameters.values };
  }
  const { parameters, tables, began } = reportParts(scope);
  const isFiltered = kind === 'sessions' && filters.length > 0;
  const time = TIMES[kind];
  const conditions = [
    'site_id = {site:String}',
    // A session is exported if it began in the period, and if one of its rows passes the filters.
    ...(isFiltered
      ? [began, 'session_id IN (SELECT session_id FROM hit)']
      : [
          `${time} >= fromUnixTimestamp64Milli({from:Int64})`,
          ...(untilMs === undefined ? [] : [`${time} < fromUnixTimestamp64Milli({to:Int64})`]),
        ]),
  ];
  // The columns are converted outside of this subquery. If this subquery converted them, the condition would use the converted values: in ClickHouse,
  // a condition uses the alias of a column instead of the column with the same name.
  const rows = `SELECT ${columns.map(({ name }) => name).join(', ')} FROM ${kind} WHERE ${conditions.join(' AND ')}`;
  const sql = `${isFiltered ? `${tables}\n` : ''}SELECT ${selected(columns, format, 'found')}\nFROM (${rows}) AS found`;
  return { sql, params: parameters.values };
}

function selected(columns: readonly TableColumn[], format: ExportFormat, table: string): string {
  return columns.map(({ name, type }) => `${cell(`${table}.${name}`, type, format)} AS ${name}`).join(', ');
}

const TEXT = /^(?:LowCardinality\()?String\)?$/;

/**
 * Returns the SQL of a column for a format. CSV and Parquet have no type for `properties` and `traits`, so these columns become JSON
 * text.
 */
function cell(column: string, type: string, format: ExportFormat): string {
  if (format === 'ndjson') return column;
  if (type.startsWith('JSON')) return `toString(${column})`;
  return format === 'csv' && TEXT.test(type) ? withoutFormula(`toString(${column})`) : column;
}

/**
 * Spreadsheets run a cell that begins with one of these characters as a formula, and any client can send such a text as a page or a
 * referrer. An apostrophe before the text prevents this.
 */
function withoutFormula(text: string): string {
  return `if(match(${text}, '^[=+@\\\\t\\\\r\\\\n-]'), concat('\\'', ${text}), ${text})`;
}

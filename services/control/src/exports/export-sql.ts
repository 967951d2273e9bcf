import type { ExportFormat, ExportKind } from '@weir/domain/dump/export-kinds';
import { END_MS } from '@weir/domain/ingest/timestamp';
import { reportParts, type Statement } from '../reports/report-sql.ts';
import type { ExportRequest } from './export-request.ts';

/** The kinds that are a table of docs/tables.md. */
export type TableKind = Exclude<ExportKind, 'everything'>;

export interface TableColumn {
  readonly name: string;
  /** Of ClickHouse. */
  readonly type: string;
}

/** The time that `since` and `until` limit. */
const TIMES: Readonly<Record<TableKind, string>> = {
  events: 'timestamp',
  sessions: 'started_at',
  profiles: 'last_seen_at',
  payments: 'timestamp',
};

/** The rows of a table as one statement. They come in no particular order: sorting them would take memory. */
export function exportStatement(
  kind: TableKind,
  { site, format, sinceMs, untilMs, filters }: ExportRequest,
  columns: readonly TableColumn[],
): Statement {
  const period = { zone: 'UTC', fromMs: sinceMs ?? 0, toMs: untilMs ?? END_MS };
  const scope = { siteId: site.siteId, period, withBots: true, withInternalEvents: true, filters };
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
  // The cells stand outside: in ClickHouse, conditions would otherwise see them instead of the columns.
  const rows = `SELECT ${columns.map(({ name }) => name).join(', ')} FROM ${kind} WHERE ${conditions.join(' AND ')}`;
  const sql = `${isFiltered ? `${tables}\n` : ''}SELECT ${selected(columns, format, 'found')}\nFROM (${rows}) AS found`;
  return { sql, params: parameters.values };
}

function selected(columns: readonly TableColumn[], format: ExportFormat, table: string): string {
  return columns.map(({ name, type }) => `${cell(`${table}.${name}`, type, format)} AS ${name}`).join(', ');
}

const TEXT = /^(?:LowCardinality\()?String\)?$/;

/** Properties and traits have no type in CSV and Parquet: they are JSON texts there. */
function cell(column: string, type: string, format: ExportFormat): string {
  if (format === 'ndjson') return column;
  if (type.startsWith('JSON')) return `toString(${column})`;
  return format === 'csv' && TEXT.test(type) ? withoutFormula(`toString(${column})`) : column;
}

/**
 * Spreadsheets run a cell that begins with one of these characters as a formula, and anybody can send such a text as a page or a
 * referrer. An apostrophe in front makes it a text.
 */
function withoutFormula(text: string): string {
  return `if(match(${text}, '^[=+@\\\\t\\\\r-]'), concat('\\'', ${text}), ${text})`;
}

import { Readable } from 'node:stream';
import type { ExportFormat } from '@weir/domain/dump/export-kinds';
import { DependencyError } from '@weir/domain/errors';
import type { StreamOptions } from '@weir/ports/analytics';
import { dumpLines } from './dump-lines.ts';
import { EXPORT_SECONDS_MAX, type ExportDeps } from './export-deps.ts';
import type { ExportRequest } from './export-request.ts';
import { exportStatement, type TableColumn, type TableKind } from './export-sql.ts';

const CLICKHOUSE_FORMATS: Readonly<Record<ExportFormat, StreamOptions['format']>> = {
  ndjson: 'JSONEachRow',
  csv: 'CSVWithNames',
  parquet: 'Parquet',
};

/**
 * Returns the bytes of an export. Rejects if the query fails before its first byte. If the query fails later, the stream ends with an error. If a
 * swap (docs/glossary.md) exchanges the tables during the export, some rows may come from the old tables and some from the new tables. The stream
 * then also ends with an error.
 */
export async function exportAnswer(request: ExportRequest, deps: ExportDeps): Promise<Readable> {
  const { exportedTables } = deps;
  const { kind } = request;
  const before = await exportedTables.generation();
  const pieces = await (kind === 'everything' ? dumpLines(request, deps) : tableRows(kind, request, deps));
  return Readable.from(ofOneGeneration(), { objectMode: false });

  async function* ofOneGeneration() {
    yield* pieces;
    if ((await exportedTables.generation()) === before) return;
    throw new DependencyError('generation_changed', 'the tables were exchanged during the export: export again');
  }
}

async function tableRows(
  kind: TableKind,
  request: ExportRequest,
  { exportedTables, signal }: ExportDeps,
): Promise<Readable> {
  const columns = await exportedTables.select<TableColumn>(
    'SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = {table:String} ORDER BY position',
    { table: kind },
  );
  const { sql, params } = exportStatement(kind, request, columns);
  const format = CLICKHOUSE_FORMATS[request.format];
  return exportedTables.streamQuery(sql, params, { format, secondsMax: EXPORT_SECONDS_MAX, signal });
}

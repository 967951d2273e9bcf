import { Readable } from 'node:stream';
import { EXPORT_KINDS, type ExportFormat } from '@weir/domain/dump/export-kinds';
import type { AdminDeps } from '../control-deps.ts';
import { exportAnswer } from '../exports/export-answer.ts';
import { EXPORT_SECONDS_MAX } from '../exports/export-deps.ts';
import { readExportRequest } from '../exports/export-request.ts';
import { invalid, type Reply, unavailable } from '../http/admin-reply.ts';
import type { SiteRequest } from '../http/admin-route.ts';
import type { StreamReply } from '../http/send-stream.ts';
import { EXPORT_PARAMETERS, readQuery } from '../reports/read-query.ts';

/**
 * The maximum number of exports at the same time. Each occupies one of ClickHouse's concurrent statements and up to 2 GiB of
 * memory. Reports need both.
 */
export const EXPORTS_MAX = 2;
const RETRY_AFTER_SECONDS = 30;

const CONTENT_TYPES: Readonly<Record<ExportFormat, string>> = {
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
  parquet: 'application/vnd.apache.parquet',
};

/** Sends the rows of a table for a site, or a dump (docs/glossary.md) of the site, as a file (docs/operations.md, Exports). */
export async function exportSite(
  deps: AdminDeps,
  { site, params, http, context }: SiteRequest,
): Promise<Reply | StreamReply> {
  const kind = EXPORT_KINDS.find((known) => known === params.kind);
  if (kind === undefined) return invalid(`kind must be one of ${EXPORT_KINDS.join(', ')}`);
  const query = readQuery(http.originalUrl, EXPORT_PARAMETERS);
  if ('problem' in query) return invalid(query.problem);
  const request = readExportRequest(site, kind, query.value);
  if ('problem' in request) return invalid(request.problem);
  const { format } = request.value;
  const reply = (stream: Readable): StreamReply => {
    return { status: 200, stream, contentType: CONTENT_TYPES[format], fileName: `${site.siteId}-${kind}.${format}` };
  };
  if (http.method === 'HEAD') return reply(Readable.from([]));
  if (!deps.exportSlots.take()) {
    return unavailable(`${EXPORTS_MAX} exports are running, the most at a time: try again later`, RETRY_AFTER_SECONDS);
  }
  try {
    const stream = await exportAnswer(request.value, { ...deps, signal: context.signal });
    const tooLong = () => stream.destroy(new Error(`the export took more than ${EXPORT_SECONDS_MAX} s`));
    const timer = setTimeout(tooLong, EXPORT_SECONDS_MAX * 1000);
    stream.once('close', () => {
      clearTimeout(timer);
      deps.exportSlots.release();
    });
    return reply(stream);
  } catch (error) {
    deps.exportSlots.release();
    throw error;
  }
}

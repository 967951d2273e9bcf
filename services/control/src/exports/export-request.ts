import { EXPORT_FORMATS, type ExportFormat, type ExportKind } from '@weir/domain/dump/export-kinds';
import { looksLikeSeconds, parseTimestamp, SECONDS_RULE, TIMESTAMP_RULE } from '@weir/domain/ingest/timestamp';
import type { Site } from '@weir/domain/registry/site';
import type { Checked } from '../http/compile-body.ts';
import { type Filter, readFilters } from '../reports/filter.ts';
import { type Query, readChoice } from '../reports/read-query.ts';

export interface ExportRequest {
  readonly site: Site;
  readonly kind: ExportKind;
  readonly format: ExportFormat;
  /** The export has the rows from `sinceMs` (inclusive) to `untilMs` (exclusive), in Unix milliseconds. Undefined sets no limit. */
  readonly sinceMs: number | undefined;
  readonly untilMs: number | undefined;
  readonly filters: readonly Filter[];
}

export function readExportRequest(site: Site, kind: ExportKind, query: Query): Checked<ExportRequest> {
  const format = readChoice('format', query.format, EXPORT_FORMATS);
  if ('problem' in format) return format;
  if (kind === 'everything' && format.value !== undefined && format.value !== 'ndjson') {
    return { problem: 'format must be ndjson for everything: only ndjson can be imported again' };
  }
  const since = readTime('since', query.since);
  if ('problem' in since) return since;
  const until = readTime('until', query.until);
  if ('problem' in until) return until;
  const [sinceMs, untilMs] = [since.value, until.value];
  if (sinceMs !== undefined && untilMs !== undefined && untilMs <= sinceMs) {
    return { problem: 'until must be later than since' };
  }
  const filters = readFilters(query.filters);
  if ('problem' in filters) return filters;
  if (filters.value.length > 0 && kind !== 'events' && kind !== 'sessions') {
    return { problem: 'filter is only for events and sessions' };
  }
  return { value: { site, kind, format: format.value ?? 'ndjson', sinceMs, untilMs, filters: filters.value } };
}

function readTime(name: 'since' | 'until', text: string | undefined): Checked<number | undefined> {
  if (text === undefined) return { value: undefined };
  const ms = parseTimestamp(text);
  if (ms === undefined) return { problem: `${name} ${TIMESTAMP_RULE}` };
  return looksLikeSeconds(text) ? { problem: `${name} ${SECONDS_RULE}` } : { value: ms };
}

import type { AdminDeps } from '../control-deps.ts';
import { invalid, notFound, ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest } from '../http/admin-route.ts';
import { readCount, readParameters } from '../http/query-parameters.ts';
import type { ReportTables } from '../steady-tables.ts';
import { type ComparedDay, compareDay, someBuiltDays } from '../visit-slots/compare-reports.ts';

const DAYS_DEFAULT = 3;
export const AUDITED_DAYS_MAX = 30;

/**
 * For some random built days (docs/glossary.md) of a site, or of each site, compares the numbers that reports read from the table `visit_slots` with
 * the same numbers from the rows. The call can take hours. So each comparison waits for its own place in the report queue.
 */
export async function auditReports(
  { tables, registry, reportQueue }: AdminDeps,
  { http, context }: AdminRequest,
): Promise<Reply> {
  const sent = readParameters(http.originalUrl, ['site', 'days']);
  if ('problem' in sent) return invalid(sent.problem);
  const values = new Map(sent.value);
  const days = readCount('days', values.get('days'), { max: AUDITED_DAYS_MAX, otherwise: DAYS_DEFAULT });
  if ('problem' in days) return invalid(days.problem);
  const asked = values.get('site');
  const sites = registry.sites().filter(({ siteId }) => asked === undefined || siteId === asked);
  if (asked !== undefined && sites.length === 0) return notFound('site');
  const compared: ComparedDay[] = [];
  const read = <T>(siteId: string, work: (stored: ReportTables) => Promise<T>): Promise<T> =>
    reportQueue.takeTurn(siteId, context.signal, () => tables.read(work, context));
  for (const { siteId } of sites) {
    for (const dayMs of await read(siteId, (stored) => someBuiltDays(siteId, days.value, stored))) {
      const found = await read(siteId, (stored) => compareDay(siteId, dayMs, stored));
      if (found !== undefined) compared.push(found);
    }
  }
  return ok({ agree: compared.every(({ differing }) => differing.length === 0), compared });
}

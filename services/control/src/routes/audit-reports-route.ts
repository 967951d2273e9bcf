import type { AdminDeps } from '../control-deps.ts';
import { invalid, notFound, ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest } from '../http/admin-route.ts';
import { readCount, readParameters } from '../http/query-parameters.ts';
import { type ComparedDay, compareDay, someBuiltDays } from '../visit-slots/compare-reports.ts';

const DAYS_DEFAULT = 3;
export const AUDITED_DAYS_MAX = 30;

/**
 * For some random built days (docs/glossary.md) of a site, or of each site, compares the numbers that reports read from the table `visit_slots` with
 * the same numbers from the rows.
 */
export async function auditReports(
  { tables, registry, takeAuditTurn }: AdminDeps,
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
  const compared = await takeAuditTurn('', context.signal, async () => {
    const found: ComparedDay[] = [];
    for (const { siteId } of sites) {
      for (const dayMs of await tables.read((stored) => someBuiltDays(siteId, days.value, stored), context)) {
        const day = await tables.read((stored) => compareDay(siteId, dayMs, stored), context);
        if (day !== undefined) found.push(day);
      }
    }
    return found;
  });
  return ok({ agree: compared.every(({ differing }) => differing.length === 0), compared });
}

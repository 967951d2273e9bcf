import type { Funnel } from '@weir/domain/registry/saved';
import type { AdminDeps } from '../../control-deps.ts';
import { invalid, notFound, type Reply } from '../../http/admin-reply.ts';
import type { SiteRequest } from '../../http/admin-route.ts';
import type { Checked } from '../../http/compile-body.ts';
import { FUNNEL_PARAMETERS, type Query, readQuery } from '../read-query.ts';
import { answerReport } from '../report-request.ts';
import { type FunnelOf, funnelReport } from './funnel-report.ts';
import { readFunnel } from './read-funnel.ts';

/** Returns how many visitors reached each step of a funnel (docs/stats.md, Funnels). */
export async function funnel(deps: AdminDeps, { site, http, context }: SiteRequest): Promise<Reply> {
  const query = readQuery(http.originalUrl, FUNNEL_PARAMETERS);
  if ('problem' in query) return invalid(query.problem);
  const saved = deps.registry.funnels(site.siteId).find(({ funnelId }) => funnelId === query.value.funnel);
  if (query.value.funnel !== undefined && saved === undefined) return notFound('funnel');
  const asked = readAsked(query.value, saved);
  if ('problem' in asked) return invalid(asked.problem);
  return answerReport(deps, { site, context }, query.value, async (request, reading) => ({
    value: await funnelReport(request, asked.value, reading),
  }));
}

/** The steps of a saved funnel, or those of the query. */
function readAsked({ steps, within }: Query, saved: Funnel | undefined): Checked<FunnelOf> {
  if (saved === undefined) return readFunnel(steps, within);
  if (steps.length > 0 || within !== undefined) return { problem: 'send either funnel, or step and within' };
  return readFunnel(saved.steps, saved.within);
}

import { ACTION_TYPES, type Action, actionProblem } from '@weir/domain/registry/goal';
import type { AdminDeps } from '../../control-deps.ts';
import { invalid, notFound, ok, type Reply } from '../../http/admin-reply.ts';
import type { AdminRequest } from '../../http/admin-route.ts';
import type { Checked } from '../../http/compile-body.ts';
import { FUNNEL_PARAMETERS, type Query, readQuery } from '../read-query.ts';
import { readReportRequest } from '../report-request.ts';
import { type FunnelOf, funnelReport } from './funnel-report.ts';
import { STEPS_MAX, STEPS_MIN } from './funnel-sql.ts';

const WITHIN_DEFAULT = '7d';
const WITHIN_DAYS_MAX = 366;
const DURATION = /^(\d{1,8})([smhd])$/;
const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Returns how many visitors reached each step of a funnel (docs/stats.md, Funnels). */
export async function funnel(deps: AdminDeps, { params, http, context }: AdminRequest): Promise<Reply> {
  const site = deps.registry.site(params.site_id ?? '');
  if (site === undefined) return notFound('site');
  const query = readQuery(http.originalUrl, FUNNEL_PARAMETERS);
  if ('problem' in query) return invalid(query.problem);
  const asked = readFunnel(query.value);
  if ('problem' in asked) return invalid(asked.problem);
  const report = await deps.tables.read<Checked<object>>(async (analytics) => {
    const reading = { analytics, clock: deps.clock };
    const request = await readReportRequest(site, query.value, reading);
    return 'problem' in request ? request : { value: await funnelReport(request.value, asked.value, reading) };
  }, context);
  return 'problem' in report ? invalid(report.problem) : ok(report.value);
}

function readFunnel({ steps: texts, within = WITHIN_DEFAULT }: Query): Checked<FunnelOf> {
  if (texts.length < STEPS_MIN || texts.length > STEPS_MAX) {
    return { problem: `step must be sent ${STEPS_MIN} to ${STEPS_MAX} times` };
  }
  const steps: Action[] = [];
  for (const text of texts) {
    const type = ACTION_TYPES.find((known) => text.startsWith(`${known}:`));
    if (type === undefined) return { problem: 'step must be event:NAME or page:GLOB, such as page:/checkout/*' };
    const step = { type, value: text.slice(type.length + 1) };
    const problem = actionProblem(step);
    if (problem !== undefined) return { problem: `step is invalid: ${problem}` };
    steps.push(step);
  }
  const [, count, unit] = DURATION.exec(within) ?? [];
  const withinMs = Number(count) * UNIT_MS[unit as keyof typeof UNIT_MS];
  if (!(withinMs > 0 && withinMs <= WITHIN_DAYS_MAX * UNIT_MS.d)) {
    return { problem: `within must be a duration of up to ${WITHIN_DAYS_MAX} days, such as 30m, 24h or 7d` };
  }
  return { value: { steps, withinMs } };
}

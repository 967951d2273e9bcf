import { localText } from './buckets.ts';
import type { ReportRequest } from './report-request.ts';
import type { Scope, Statement } from './report-sql.ts';

/** The first fields of the answer of each report on one site: the site, the period, whether bots count, and the kind of comparison. */
export function headView({
  scope,
  compared,
}: Pick<ReportRequest, 'scope' | 'compared'>): Readonly<Record<string, unknown>> {
  return {
    site_id: scope.siteId,
    timezone: scope.period.zone,
    ...periodView(scope),
    bots: scope.withBots ? 'include' : 'exclude',
    ...(compared === undefined ? {} : { compare: compared.comparison }),
  };
}

/** The fields of a period. `to` is the first moment after the period. */
export function periodView({ period }: Scope): { readonly from: string; readonly to: string } {
  return { from: localText(period.fromMs, period.zone), to: localText(period.toMs, period.zone) };
}

export function statementView(of: string, { sql, params }: Statement): object {
  return { of, sql, params };
}

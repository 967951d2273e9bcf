import type { Checked } from '../../http/compile-body.ts';
import { bucketStarts, type Interval, localText } from '../buckets.ts';
import { explained } from '../excluded-rows.ts';
import { ratio } from '../report-metrics.ts';
import type { ReportDeps, ReportRequest } from '../report-request.ts';
import { headView } from '../report-view.ts';
import { cohortsStatement } from './cohorts-sql.ts';

/** The maximum number of buckets. The size of the answer grows with its square, because the answer has a number for each pair of buckets. */
const COHORTS_MAX = 60;

/** Answers the cohorts report: the visitors by the bucket of their first row, and how many of them were seen in each later bucket. */
export async function cohortsReport(
  request: ReportRequest,
  interval: Interval,
  deps: ReportDeps,
): Promise<Checked<object>> {
  const { scope } = request;
  const starts = bucketStarts(scope.period, interval, COHORTS_MAX);
  if ('problem' in starts) return starts;
  const statement = cohortsStatement(scope, starts.value);
  const { rows } = await deps.analytics.userQuery(statement.sql, statement.params);
  const found = new Map(rows.map(({ cohort, bucket, visitors }) => [`${cohort} ${bucket}`, Number(visitors)]));
  const { zone, toMs } = scope.period;
  const cohorts = starts.value.map((start, nth) => {
    const seen = starts.value.slice(nth).map((bucket) => found.get(`${start} ${bucket}`) ?? 0);
    const [visitors = 0] = seen;
    return {
      ...{ start: localText(start, zone), end: localText(starts.value[nth + 1] ?? toMs, zone), visitors },
      returned: seen.slice(1),
      rates: seen.slice(1).map((count) => ratio(count, visitors)),
    };
  });
  const explain = await explained(request, { cohorts: statement }, deps);
  return { value: { ...headView(request), interval, cohorts, ...explain } };
}

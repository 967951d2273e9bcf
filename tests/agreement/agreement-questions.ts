import fc from 'fast-check';
import type { Model } from '../reports-model/model-rows.ts';
import { DIMENSIONS, pathOf, type Question, question } from '../reports-model/report-questions.ts';

/** The number of rows that the dashboard shows in a list. */
export const LIST_ROWS = 9;
const ZONES = ['', '', '', 'America/New_York', 'Asia/Kolkata'];
const LIST_METRICS = ['visitors', 'visitors', 'visits', 'pageviews', 'events'] as const;
export type ListMetric = (typeof LIST_METRICS)[number];

export interface AgreementQuestion {
  readonly question: Question;
  /** The time zone of the report. Empty: the time zone of the site. */
  readonly timezone: string;
  /** The number that the dashboard shows in a list. The list is sorted by it. */
  readonly metric: ListMetric;
}

/**
 * Generates questions (requests for reports) that the admin API, `weir`, SQL and the dashboard can all answer. The dashboard does not have periods
 * that begin at a time of day, lists with a comparison, and comparisons for the period `all`. So no question has one of these.
 */
export function agreementQuestions(model: Model, seed: number, count: number): readonly AgreementQuestion[] {
  const asked = fc.record({
    question: question(model).filter(({ from }) => from === undefined || !from.includes('T')),
    timezone: fc.constantFrom(...ZONES),
    metric: fc.constantFrom(...LIST_METRICS),
  });
  return fc.sample(fc.noBias(asked), { seed, numRuns: count }).map((one, index) => {
    // Every second question is for a list. Its dimension changes from list to list.
    const dimension = index % 2 === 0 ? '' : (DIMENSIONS[(seed + index) % DIMENSIONS.length] ?? '');
    const { period, compare, interval } = one.question;
    const isHourly = interval === 'hour' && ['30d', 'month'].includes(period ?? '');
    return {
      ...one,
      question: {
        ...one.question,
        dimension,
        interval: isHourly ? 'day' : interval,
        // `AgreementQuestion.timezone` is the time zone of the report.
        timezone: undefined,
        compare: dimension !== '' || period === 'all' ? undefined : compare,
        explain: true,
        order: `${one.metric}:desc`,
        // The dashboard shows the number `one.metric`, so the answer must have it.
        metrics: one.question.metrics && [...new Set([one.metric, ...one.question.metrics])],
        limit: LIST_ROWS,
        page: 1,
      },
    };
  });
}

/** The path of the question in the admin API, after the part with the site. */
export const apiPath = ({ question: asked, timezone }: AgreementQuestion): string =>
  pathOf(asked) + (timezone === '' ? '' : `&timezone=${encodeURIComponent(timezone)}`);

const parametersOf = (asked: AgreementQuestion): readonly (readonly [string, string])[] => [
  ...new URLSearchParams(apiPath(asked).split('?')[1] ?? '').entries(),
];

/** The words of the `weir` command that asks the question. */
export function cliWords(asked: AgreementQuestion, siteId: string): readonly string[] {
  const words = parametersOf(asked).flatMap(([name, value]) => {
    if (name === 'explain') return [];
    if (name === 'bots') return value === 'include' ? ['--bots'] : [];
    return [`--${name === 'dimension' ? 'by' : name}`, value];
  });
  return [asked.question.dimension === '' ? 'stats' : 'breakdown', siteId, ...words];
}

export function dashboardPath(asked: AgreementQuestion, siteId: string): string {
  const inAddress = ['period', 'from', 'to', 'compare', 'bots', 'filter', 'interval', 'timezone'];
  const query = new URLSearchParams();
  for (const [name, value] of parametersOf(asked)) if (inAddress.includes(name)) query.append(name, value);
  if (asked.question.compare === undefined) query.append('compare', 'none');
  return `/dashboard/sites/${siteId}/overview?${query}`;
}

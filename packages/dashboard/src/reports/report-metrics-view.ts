import type { Answer } from '../api/call-admin.ts';
import type { TextKey, Texts } from '../i18n/text-context.tsx';

type Totals = Answer<'stats'>['totals'];
export type MetricName = keyof Totals;
/** A number of a report. A mean such as `views_per_visit` is null if there are no visits. `visitors` is an object if the number is an estimate. */
export type MetricValue = Totals[MetricName];

export const METRICS = [
  'visitors',
  'visits',
  'pageviews',
  'events',
  'views_per_visit',
  'bounce_rate',
  'visit_duration',
] as const satisfies readonly MetricName[];

/** The metrics of which a lower value is better. */
export const LESS_IS_BETTER: ReadonlySet<MetricName> = new Set(['bounce_rate']);

/** The metrics that only grow while a period lasts. The others are means. */
export const COUNTS: ReadonlySet<MetricName> = new Set(['visitors', 'visits', 'pageviews', 'events']);

export const metricLabel = (name: MetricName): TextKey => `metric.${name}`;

export function numberOf(value: MetricValue | undefined): number | null {
  return typeof value === 'object' && value !== null ? value.value : (value ?? null);
}

/** A value as text. */
export function formatMetric(texts: Texts, name: MetricName, value: MetricValue | undefined, isShort = false): string {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'object') return `≈\u00a0${formatMetric(texts, name, value.value, isShort)}`;
  if (name === 'bounce_rate') return texts.percent(value);
  if (name === 'visit_duration') return texts.duration(value);
  if (name === 'views_per_visit') return texts.decimal(value);
  return isShort && value >= 10_000 ? texts.compact(value) : texts.number(value);
}

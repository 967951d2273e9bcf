import type { Answer } from '../api/call-admin.ts';
import type { TextKey, Texts } from '../i18n/text-context.tsx';

type Totals = Answer<'stats'>['totals'];
export type MetricName = keyof Totals;

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

export const metricLabel = (name: MetricName): TextKey => `metric.${name}`;

/** A value as text; without visits, a mean is null. */
export function formatMetric(texts: Texts, name: MetricName, value: number | null, isShort = false): string {
  if (value === null) return '–';
  if (name === 'bounce_rate') return texts.percent(value);
  if (name === 'visit_duration') return texts.duration(value);
  if (name === 'views_per_visit') return texts.decimal(value);
  return isShort && value >= 10_000 ? texts.compact(value) : texts.number(value);
}

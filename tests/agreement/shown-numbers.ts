import type { ListMetric } from './agreement-questions.ts';
import type { ShownReport } from './rendered-dashboard.ts';
import { type ApiAnswer, METRICS, type Numbers } from './sql-numbers.ts';

// These functions format numbers as the dashboard must show them in English. They share no code with the dashboard. Otherwise a mistake would be
// in both.
const whole = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ',');
const percent = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 1 });

export function shownText(name: keyof Numbers, value: number | null): string {
  if (value === null) return '–';
  if (name === 'bounce_rate') return percent.format(value);
  if (name === 'views_per_visit') return String(value);
  if (name !== 'visit_duration') return whole(value);
  const seconds = Math.round(value);
  if (seconds >= 3600) return `${Math.floor(seconds / 3600)}h ${Math.floor((seconds % 3600) / 60)}m`;
  return `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
}

export function wantedStats({ totals, buckets, comparison }: ApiAnswer): Omit<ShownReport, 'rows'> {
  const tiles = METRICS.map((name) => [name, shownText(name, totals?.[name] ?? null)]);
  const changes = METRICS.map((name) => [name, changeText(totals?.[name], comparison?.totals[name])]);
  return {
    tiles: Object.fromEntries(tiles),
    changes: comparison === undefined ? {} : Object.fromEntries(changes),
    series: (buckets ?? []).map(({ visitors }) => shownText('visitors', visitors)),
    earlier: (comparison?.buckets ?? [])
      .slice(0, buckets?.length)
      .map(({ visitors }) => shownText('visitors', visitors)),
  };
}

function changeText(now: number | null | undefined, before: number | null | undefined): string {
  if (now == null || before == null || before === 0) return '–';
  const share = (now - before) / before;
  const rounded = new Intl.NumberFormat('en', { style: 'percent', signDisplay: 'exceptZero' }).format(share);
  if (Math.abs(share) < 0.005) return rounded;
  return `${share > 0 ? '↑' : '↓'} ${rounded}`;
}

/** Returns the rows that a list of the dashboard must show. The list does not show rows with the number 0. */
export function wantedRows(
  { rows = [] }: ApiAnswer,
  dimension: string,
  metric: ListMetric,
): readonly (readonly [string, string])[] {
  return rows
    .filter((row) => (row[metric] ?? 0) > 0)
    .map((row) => [valueText(dimension, row.value), shownText(metric, row[metric])]);
}

/** The only percent-encoded character in the generated paths. */
const readablePath = (path: string): string => path.replace(/%c3%bc/gi, 'ü');

const NAMES: Readonly<Record<string, (value: string) => string>> = {
  page: readablePath,
  entry: readablePath,
  exit: readablePath,
  country: (value) => new Intl.DisplayNames('en', { type: 'region' }).of(value) ?? value,
  language: (value) => new Intl.DisplayNames('en', { type: 'language' }).of(value) ?? value,
  bot_reason: (value) => (value === 'known_bot' ? 'Known bot' : value),
  device: (value) => ({ desktop: 'Desktop', mobile: 'Mobile', tablet: 'Tablet' })[value] ?? value,
};

function valueText(dimension: string, value: string): string {
  if (value === '') return dimension === 'source' || dimension === 'channel' ? 'Direct / none' : '(none)';
  return NAMES[dimension]?.(value) ?? value;
}

/** The cells for these numbers in the output of `weir stats` and `weir breakdown`. A breakdown can have only some of the numbers. */
export function cliCells(numbers: Partial<Numbers>): readonly string[] {
  const { visitors, visits, pageviews, events, bounce_rate, visit_duration, views_per_visit } = numbers;
  const seconds = Math.round(visit_duration ?? 0);
  const cells = [
    ...[visitors, visits, pageviews, events],
    bounce_rate === null ? '-' : bounce_rate === undefined ? undefined : `${(bounce_rate * 100).toFixed(1)}%`,
    visit_duration === null
      ? '-'
      : visit_duration === undefined
        ? undefined
        : `${Math.floor(seconds / 60)}m ${seconds % 60}s`,
    views_per_visit === null ? '-' : views_per_visit,
  ];
  return cells.filter((cell) => cell !== undefined).map(String);
}

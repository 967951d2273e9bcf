import { COLUMN_DIMENSION_NAMES } from '@weir/control/reports/dimensions';

/** A request for a report: `path` is the part of its URL after the site. */
export interface LateRequest {
  readonly report: string;
  readonly period: string;
  readonly path: string;
}

const DAY_MS = 24 * 3600_000;
/** The time from the end of the periods `24h` and `7d` to the end of the traffic. These periods begin and end between two full hours. */
const BEFORE_END_MS = 14 * 3600_000 + 43 * 60_000;
export const LATE_PERIODS = ['24h', '7d', '30d'] as const;

const filter = (text: string): string => `filter=${encodeURIComponent(text)}`;
const COMPARE = 'compare=previous_period';

/** The reports: a name without commas (`--reports`), the call, and its parameters without the period. */
const REPORTS: readonly (readonly [name: string, call: string, query: string])[] = [
  ['stats', 'stats', ''],
  ['stats by hour', 'stats', 'interval=hour'],
  ['stats by week', 'stats', 'interval=week'],
  ['stats with comparison', 'stats', COMPARE],
  ['stats with bots', 'stats', 'bots=include'],
  ['stats of a country', 'stats', filter('country:is:US')],
  ['stats of a source', 'stats', filter('source:is:Google')],
  ['stats of a page', 'stats', filter('page:is:/')],
  ['stats of an entry page', 'stats', filter('entry:is:/')],
  ['stats of an exit page', 'stats', filter('exit:is:/')],
  ['stats of two filters', 'stats', `${filter('device:is:mobile')}&${filter('channel:is:Email')}`],
  ['stats of visitors of a page', 'stats', filter('viewed_page:is:/section-1/page-1')],
  // A breakdown by event has no rows, because all hits are page views.
  ...COLUMN_DIMENSION_NAMES.filter((name) => name !== 'event').map(
    (name) =>
      [
        name,
        'breakdown',
        `dimension=${name}&limit=1000${name === 'bot' || name === 'bot_reason' ? '&bots=include' : ''}`,
      ] as const,
  ),
  ['page of a source', 'breakdown', `dimension=page&limit=1000&${filter('source:is:Google')}`],
  ['page of an entry page', 'breakdown', `dimension=page&limit=1000&${filter('entry:is:/')}`],
  ['page without an event', 'breakdown', `dimension=page&limit=1000&${filter('event:is:')}`],
  ['entry of a country', 'breakdown', `dimension=entry&limit=1000&${filter('country:is:US')}`],
  ['exit of a channel', 'breakdown', `dimension=exit&limit=1000&${filter('channel:is:Email')}`],
  ['source with comparison', 'breakdown', `dimension=source&limit=1000&${COMPARE}`],
  ['entry with comparison', 'breakdown', `dimension=entry&limit=1000&${COMPARE}`],
  ['funnel', 'funnel', `step=${encodeURIComponent('page:/')}&step=${encodeURIComponent('page:/section-1/*')}`],
  ['journeys', 'journeys', `path=${encodeURIComponent('/section-1/page-1')}`],
  ['cohorts', 'cohorts', 'interval=day'],
];

/** The requests to compare. The periods are fixed, so that both Weirs report on the same time. `only`: the names of the reports. Undefined: all. */
export function lateRequests(endMs: number, only: readonly string[] | undefined): readonly LateRequest[] {
  const toMs = endMs - BEFORE_END_MS;
  const moments = (days: number): string =>
    `from=${new Date(toMs - days * DAY_MS).toISOString()}&to=${new Date(toMs).toISOString()}`;
  const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
  const spans = {
    '24h': moments(1),
    '7d': moments(7),
    '30d': `from=${day(endMs - 30 * DAY_MS)}&to=${day(endMs - DAY_MS)}`,
  };
  const unknown = (only ?? []).filter((name) => REPORTS.every(([known]) => known !== name));
  if (unknown.length > 0) throw new Error(`no such report: ${unknown.join(', ')}`);
  return REPORTS.filter(([name]) => only?.includes(name) ?? true).flatMap(([report, call, query]) =>
    LATE_PERIODS.map((period) => ({
      ...{ report, period },
      path: `${call}?${spans[period]}${query === '' ? '' : `&${query}`}`,
    })),
  );
}

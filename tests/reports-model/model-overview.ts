import fc from 'fast-check';
import { bucketsOf, type Interval, MINUTE_MS } from './local-time.ts';
import { comparedPeriod, type Period, periodOf, within } from './model-periods.ts';
import { changeOf, numbersOf } from './model-reports.ts';
import type { Model } from './model-rows.ts';
import { compareTexts, select, visitorsOf } from './model-select.ts';
import { type Answer, type ReportModel, shownSpan } from './report-model.ts';
import { question, type ScopeQuestion, scopeQuery } from './report-questions.ts';
import { periodAtRow, timeAfterRow } from './row-times.ts';

// This file computes the expected answers of `GET /api/admin/stats` by the definitions of docs/stats.md (All sites).

const LIMIT_DEFAULT = 100;
/** The name and the domain of all sites of the test (weir-client.ts). */
const SITE_TEXTS = ['Test', 'example.com'];

interface OverviewQuestion extends ScopeQuestion {
  readonly interval: Interval;
  /** The time of the request. Undefined: the time of the other requests. */
  readonly askedAt: number | undefined;
  /** `id` and `part`: the ID of the site of the history, and a part of it in upper case. */
  readonly find: 'id' | 'part' | 'tEs' | 'EXAMPLE.' | 'unknown' | undefined;
  readonly search: string | undefined;
  readonly limit: number | undefined;
  readonly page: number | undefined;
}

/** The answer has at most 180 buckets. */
const TOO_LONG_FOR_HOURS = ['30d', '90d', 'month', '12mo', 'year'];
const TOO_LONG_FOR_DAYS = ['12mo', 'year'];

function overviewQuestion(model: Model): fc.Arbitrary<OverviewQuestion> {
  return fc
    .record({
      asked: question(model),
      atRow: fc.oneof(fc.constant(undefined), periodAtRow(model)),
      askedAt: fc.oneof(fc.constant(undefined), timeAfterRow(model)),
      find: fc.constantFrom<OverviewQuestion['find']>(undefined, undefined, 'id', 'part', 'tEs', 'EXAMPLE.', 'unknown'),
      part: fc.constantFrom(
        { limit: undefined, page: undefined },
        { limit: 500, page: undefined },
        { limit: 3, page: 1 },
        { limit: 2, page: 3 },
      ),
    })
    .map(({ asked, atRow, part, ...others }) => {
      const { bots, explain, interval: unit } = asked;
      const { period: name, from, to } = atRow ?? asked;
      const period = name === 'all' ? '12mo' : name;
      const shortest = TOO_LONG_FOR_DAYS.includes(period ?? '')
        ? 'week'
        : TOO_LONG_FOR_HOURS.includes(period ?? '')
          ? 'day'
          : 'hour';
      const units: readonly Interval[] = ['hour', 'day', 'week', 'month'];
      const interval = units.indexOf(unit) < units.indexOf(shortest) ? shortest : unit;
      return { period, from, to, bots, explain, filters: [], interval, search: undefined, ...others, ...part };
    });
}

export const OVERVIEW_MODEL: ReportModel<OverviewQuestion> = {
  name: 'overview',
  questions: 2,
  isOfAllSites: true,
  question: overviewQuestion,
  async prepare(lane, site, asked) {
    lane.now = asked.askedAt ?? lane.now;
    const { find } = asked;
    const search = find === 'id' ? site : find === 'part' ? site.slice(1, -1).toUpperCase() : find;
    return { ...asked, search };
  },
  path(asked) {
    const { interval, search, limit, page } = asked;
    return `/stats?${scopeQuery(asked, { interval, search, limit, page })}`;
  },
  expected(_model, asked, now, models) {
    const { interval, search = '', limit = LIMIT_DEFAULT, page = 1 } = asked;
    const text = search.trim().toLowerCase();
    const found = [...models]
      .filter(([site]) => [site, ...SITE_TEXTS].some((one) => one.toLowerCase().includes(text)))
      .toSorted(([a], [b]) => compareTexts(a, b));
    const shown = found.slice((page - 1) * limit, page * limit);
    const periods = new Map<string, ZonePeriods>();
    for (const [, { history }] of shown) {
      const { zone } = history;
      if (!periods.has(zone)) periods.set(zone, periodsOf(asked, zone, now));
    }
    return {
      ...{ limit, page, has_more: found.length > page * limit, interval },
      periods: Object.fromEntries(periods),
      sites: shown.map(([site_id, one]) => {
        const { zone } = one.history;
        return {
          ...{ site_id, timezone: zone },
          ...numbersIn(one, asked, periods.get(zone) ?? periodsOf(asked, zone, now)),
          last_5_minutes: visitorsIn(one, asked, { from: now - 5 * MINUTE_MS, to: now }),
        };
      }),
    };
  },
  shown(data) {
    const { limit, page, has_more, interval, periods, sites } = data;
    return {
      ...{ limit, page, has_more, interval },
      periods: Object.fromEntries(
        (periods as readonly Answer[]).map(({ timezone, from, to, starts, comparison }) => [
          timezone,
          {
            ...shownSpan({ from, to }),
            starts: (starts as readonly string[]).map((start) => Date.parse(start)),
            comparison: shownSpan(comparison as Answer),
          },
        ]),
      ),
      sites: (sites as readonly Answer[]).map(
        ({ site_id, timezone, totals, before, change, series, last_5_minutes }) => ({
          ...{ site_id, timezone, totals, before, change, series },
          last_5_minutes: (last_5_minutes as Answer).visitors,
        }),
      ),
    };
  },
};

interface ZonePeriods extends Period {
  readonly starts: readonly number[];
  readonly comparison: Period;
}

function periodsOf(asked: OverviewQuestion, zone: string, now: number): ZonePeriods {
  const period = periodOf(asked, zone, now, []);
  const starts = bucketsOf(period.from, period.to, zone, asked.interval);
  return { ...period, starts, comparison: comparedPeriod(period, { compare: 'previous_period' }, zone) };
}

/** The numbers of a site: those of its `stats` with `compare=previous_period`. */
function numbersIn(model: Model, asked: OverviewQuestion, { from, to, starts, comparison }: ZonePeriods): object {
  const selected = select(model, asked, { from, to });
  const totals = numbersOf(selected);
  const before = numbersOf(select(model, asked, comparison));
  const series = starts.map((start, nth) => {
    const bucket = { from: start, to: starts[nth + 1] ?? to };
    return visitorsOf(selected.hits.filter(({ at }) => within(bucket, at)));
  });
  return { totals, before, change: changeOf(totals, before), series };
}

function visitorsIn(model: Model, asked: OverviewQuestion, period: Period): number {
  return visitorsOf(select(model, asked, period).hits);
}

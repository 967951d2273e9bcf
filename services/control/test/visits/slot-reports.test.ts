import {
  batch,
  type ClickhouseUnderTest,
  openClickhouseUnderTest,
} from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';
import { breakdownReport } from '../../src/reports/breakdown-report.ts';
import { bucketStarts, type Interval } from '../../src/reports/buckets.ts';
import { COLUMN_DIMENSION_NAMES, dimensionOf } from '../../src/reports/dimensions.ts';
import { readFilters } from '../../src/reports/filter.ts';
import {
  changeOf,
  ESTIMATE_ERROR,
  ESTIMATE_EXACT_MAX,
  METRIC_NAMES,
  metricsOf,
  needsVisits,
} from '../../src/reports/report-metrics.ts';
import { type AskedScope, countVisitors, type SlotRun } from '../../src/reports/report-sql.ts';
import { statsReport } from '../../src/reports/stats-report.ts';
import { statsStatement } from '../../src/reports/stats-sql.ts';
import { isInSlots } from '../../src/reports/visits/slot-rows.ts';
import { visitSourceOf } from '../../src/reports/visits/visit-source.ts';
import { buildDays } from '../../src/visit-slots/build-days.ts';
import { builtRun } from '../../src/visit-slots/built-run.ts';
import { buildContextOf } from '../visit-slots/slot-builds-harness.ts';
import {
  choicesOf,
  DAY_MS,
  DAYS,
  FILTERS,
  HOUR_MS,
  PROPERTY_FILTERS,
  randomVisits,
  SEED,
  SITE,
  T0,
} from './random-visits.ts';

// These tests compare reports that read slots (docs/glossary.md) with the same reports over rows only.

const choices = choicesOf(SEED);
const { pick, chance } = choices;

let opened: ClickhouseUnderTest;
let whole: SlotRun;
beforeAll(async () => {
  opened = await openClickhouseUnderTest();
  await opened.analytics.migrate();
  const { analytics } = opened;
  await analytics.insertRecords(batch(0, randomVisits(choices)));
  const toMs = T0 + DAYS * DAY_MS;
  expect(await buildDays(buildContextOf(analytics), { siteId: SITE, fromMs: T0, toMs, rows: 1 })).toMatchObject({
    days: DAYS,
  });
  const run = await builtRun(SITE, { zone: 'UTC', fromMs: T0, toMs: toMs + DAY_MS }, analytics);
  if (run === undefined) throw new Error('no day was built');
  whole = { ...run, isEstimate: false };
}, 60_000);
afterAll(async () => {
  await opened?.close();
});

const ZONES = ['UTC', 'Asia/Kolkata', 'Asia/Kathmandu', 'Europe/Vienna', 'Australia/Lord_Howe', 'America/St_Johns'];
/** Each period with its built days: its start and end in hours after T0, the first built day, and the day after the last built day. */
const SPANS: readonly (readonly [number, number, number, number])[] = [
  [0, DAYS * 24, 0, DAYS - 1],
  [24, 9 * 24 + 7, 2, 8],
  [11.3, 8 * 24 - 0.2, 1, 6],
  [-2, 11 * 24, 0, 10],
  [24, 4 * 24, 1, 3],
];

function scopeOf(texts: readonly string[], zone: string, [from, to]: readonly number[]): AskedScope {
  const filters = readFilters(texts);
  if ('problem' in filters) throw new Error(filters.problem);
  const period = { zone, fromMs: T0 + (from ?? 0) * HOUR_MS, toMs: T0 + (to ?? 0) * HOUR_MS };
  return { siteId: SITE, period, withBots: false, filters: filters.value };
}

function runOf([, , first = 0, end = 0]: readonly number[]): SlotRun {
  const fromMs = T0 + first * DAY_MS;
  const toMs = T0 + end * DAY_MS;
  return { ...whole, fromMs, toMs, builds: whole.builds.slice(first, end) };
}

/** The answers of a report without and with slots. */
async function answers(
  scope: AskedScope,
  run: SlotRun,
  before: { readonly scope: AskedScope; readonly run: SlotRun } | undefined,
  ask: (request: Parameters<typeof statsReport>[0]) => Promise<object>,
): Promise<readonly [object, object]> {
  const answer = async (withSlots: boolean): Promise<object> => {
    const sourced = async (of: AskedScope, built: SlotRun) => {
      const visits = await visitSourceOf(of, opened.analytics, withSlots ? built : undefined);
      if (visits.of !== 'rows' || (visits.built !== undefined) !== withSlots)
        throw new Error('the report reads sessions');
      return { ...of, visits };
    };
    const compared =
      before === undefined
        ? undefined
        : { comparison: 'previous_period' as const, scope: await sourced(before.scope, before.run) };
    return ask({ scope: await sourced(scope, run), compared, withExplanation: false });
  };
  return [await answer(false), await answer(true)];
}

const deps = () => ({ analytics: opened.analytics, clock: () => T0 + 30 * DAY_MS });

test.each(SPANS.map((span) => [span]))(
  `stats of %j are equal with and without slots (WEIR_SLOT_SEED=${SEED})`,
  async (span) => {
    let asked = 0;
    // Compares only two time zones for each span, to save time. Another seed selects other zones.
    const turn = 2 * (SPANS.indexOf(span) + SEED);
    for (const zone of [0, 1].map((nth) => ZONES[(turn + nth) % ZONES.length] ?? 'UTC')) {
      const interval: Interval = pick(['hour', 'day', 'week']);
      for (const texts of [...FILTERS, ...PROPERTY_FILTERS]) {
        const scope = scopeOf(texts, zone, span);
        const starts = bucketStarts(scope.period, interval);
        if ('problem' in starts) throw new Error(starts.problem);
        if (!isInSlots(scope, undefined, starts.value)) continue;
        const [rows, slots] = await answers(scope, runOf(span), undefined, (request) =>
          statsReport(request, interval, deps()),
        );
        expect([zone, interval, texts, slots]).toEqual([zone, interval, texts, rows]);
        asked += 1;
      }
    }
    expect(asked).toBeGreaterThanOrEqual(FILTERS.length);
  },
  300_000,
);

const PROPERTIES = ['property:plan', 'property:item.sku', 'property:tags', 'property:absent'];
const DIMENSIONS = [...COLUMN_DIMENSION_NAMES.filter((name) => !name.startsWith('bot')), ...PROPERTIES];
test.each(DIMENSIONS.map((name) => [name]))(
  `the breakdown by %s is equal with and without slots (WEIR_SLOT_SEED=${SEED})`,
  async (name) => {
    const by = dimensionOf(name);
    if (by === undefined) throw new Error('no dimension');
    // Asks for all filters on properties only in some breakdowns, to save time.
    const ofProperties = PROPERTIES.includes(name) ? PROPERTY_FILTERS : [pick(PROPERTY_FILTERS)];
    for (const [nth, texts] of [...FILTERS, ...ofProperties].entries()) {
      const span = SPANS[nth % SPANS.length] ?? [];
      const scope = scopeOf(texts, 'UTC', span);
      if (!isInSlots(scope, by)) continue;
      const before = chance(0.3)
        ? { scope: scopeOf(texts, 'UTC', SPANS[1] ?? []), run: runOf(SPANS[1] ?? []) }
        : undefined;
      // Without metrics of visits, a breakdown uses other statements.
      const metrics = pick([METRIC_NAMES, METRIC_NAMES, ['visitors', 'pageviews', 'events'] as const]);
      const order = { metric: pick(metrics), direction: pick(['asc', 'desc'] as const) };
      const part = pick([
        { limit: 1000, page: 1 },
        { limit: 2, page: 1 },
        { limit: 1, page: 2 },
      ]);
      const ask = async (withVisits: boolean, run = runOf(span)) =>
        answers({ ...scope, withVisits }, run, before, (request) =>
          breakdownReport(request, { by, order, metrics, ...part }, deps()),
        );
      const [rows, slots] = await ask(true);
      const answered = needsVisits(metrics) ? [slots] : [slots, ...(await ask(false))];
      // The report must also be correct if an older version of Weir has built one of the days.
      if (name === 'page') answered.push(...(await ask(true, { ...runOf(span), hasPageVisits: false })));
      for (const answer of answered) expect([texts, span, order, answer]).toEqual([texts, span, order, rows]);
    }
  },
  300_000,
);

test('an estimate is exact up to 4,000 visitors, and differs by less than 1 % above', async () => {
  const report = async (visitors: number, seed: number) => {
    const of = `FROM (SELECT sipHash64(${seed}, number) AS visitor FROM numbers(${visitors}))`;
    const [row] = await opened.analytics.select<{ estimate: string }>(
      `SELECT toString(${countVisitors('visitor', true)}) AS estimate ${of}`,
    );
    return Number(row?.estimate);
  };
  for (const visitors of [1, 300, 2_000, ESTIMATE_EXACT_MAX]) expect(await report(visitors, 1)).toBe(visitors);
  for (const visitors of [20_000, 200_000, 3_000_000]) {
    for (let seed = 0; seed < 10; seed++) {
      expect(Math.abs((await report(visitors, seed)) / visitors - 1)).toBeLessThan(ESTIMATE_ERROR);
    }
  }
}, 60_000);

test('a report with estimates says so, compares their values, and keeps small numbers', async () => {
  const counts = { visits: 0, pageviews: 0, events: 0, bounces: 0, seconds: 0, views: 0 };
  const many = metricsOf({ ...counts, visitors: 30_000 }, ESTIMATE_EXACT_MAX);
  expect(many.visitors).toEqual({ value: 30_000, exact: false, error: 0.01 });
  expect(metricsOf({ ...counts, visitors: 4_000 }, ESTIMATE_EXACT_MAX).visitors).toBe(4_000);
  expect(metricsOf({ ...counts, visitors: 30_000 }).visitors).toBe(30_000);
  expect(changeOf(many, metricsOf({ ...counts, visitors: 20_000 })).visitors).toBe(0.5);
  // This site has so few visitors that an estimate gives the exact number.
  const span = SPANS[0] ?? [];
  const scope = scopeOf([], 'UTC', span);
  const [rows, slots] = await answers(scope, { ...runOf(span), isEstimate: true }, undefined, (request) =>
    statsReport(request, 'day', deps()),
  );
  expect(slots).toEqual(rows);
  const statement = statsStatement(
    { ...scope, visits: await visitSourceOf(scope, opened.analytics, { ...runOf(span), isEstimate: true }) },
    [scope.period.fromMs],
  );
  expect(statement.sql).toContain('uniqCombined64If(17)(counted.visitor_key');
});

test('slots cannot answer questions about bots, about two of page, event and property, and about buckets within half an hour', () => {
  const by = (name: string) => dimensionOf(name);
  const scope = (...texts: readonly string[]) => scopeOf(texts, 'UTC', [0, 48]);
  expect(isInSlots(scope(), by('bot'))).toBe(false);
  expect(isInSlots(scope(), by('property:a.:Int64'))).toBe(false);
  expect(isInSlots(scope('property:a[]:is:pro'), undefined)).toBe(false);
  expect(isInSlots(scope('property:plan:is:pro'), by('property:seats'))).toBe(false);
  expect(isInSlots(scope('property:plan:is:pro', 'property:seats:is:1'), undefined)).toBe(false);
  expect(isInSlots(scope('property:plan:is:pro'), by('page'))).toBe(false);
  expect(isInSlots(scope('property:plan:is:pro', 'event:is:a'), undefined)).toBe(false);
  expect(isInSlots(scope('property:plan:is:pro', 'property:plan:is_not:x'), by('property:plan'))).toBe(true);
  expect(isInSlots(scope('page:is:/'), by('event'))).toBe(false);
  expect(isInSlots(scope('page:is:/', 'event:is:a'), undefined)).toBe(false);
  expect(isInSlots({ ...scope('viewed_page:is:/'), withBots: true }, undefined)).toBe(false);
  expect(isInSlots({ ...scope(), withBots: true }, undefined)).toBe(true);
  expect(isInSlots({ ...scope(), withInternalEvents: true }, undefined)).toBe(false);
  expect(isInSlots(scope(), undefined, [T0 + 1, T0 + HOUR_MS / 4])).toBe(false);
  expect(isInSlots(scope('done_event:is:a', 'viewed_page:is:/'), by('page'))).toBe(true);
  expect(isInSlots(scope('page:is:/'), by('page'), [T0 + 1, T0 + HOUR_MS / 2])).toBe(true);
});

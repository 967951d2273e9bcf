import { breakdownReport } from '@weir/control/reports/breakdown-report';
import { type Dimension, dimensionOf } from '@weir/control/reports/dimensions';
import { FILTER_OPERATORS } from '@weir/control/reports/filter';
import { METRIC_NAMES } from '@weir/control/reports/report-metrics';
import { type ReportRequest, readReportRequest } from '@weir/control/reports/report-request';
import { statsReport } from '@weir/control/reports/stats-report';
import { visitSourceOf } from '@weir/control/reports/visits/visit-source';
import { buildDays } from '@weir/control/visit-slots/build-days';
import { compareDay } from '@weir/control/visit-slots/compare-reports';
import { daysToBuild } from '@weir/control/visit-slots/days-to-build';
import type { RowFields } from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';
import { useSlotBuilds } from './slot-builds-harness.ts';

const DAY_MS = 86_400_000;
const T0 = Date.UTC(2026, 4, 4);
/** The rows are of these days. A report can read all of them from slots if its period contains one more day. */
const DAYS = 3;
const { opened, context, insert } = useSlotBuilds();

type Properties = Readonly<Record<string, unknown>>;

const event = (session: string, at: number, properties: Properties, fields: RowFields = {}): RowFields => ({
  ...{ visitor_id: `v-${session}`, session_id: session, pathname: '/a', country: 'DE', channel: 'Direct' },
  ...{ type: 'event', event_name: 'buy', timestamp: at, received_at: at, properties },
  ...fields,
});

/**
 * On each day, visits with the properties: one has a row with each of them, and each property also has a visit of its own. There are visits with rows
 * without properties, a visit that continues on the next day, a bot, an event of Weir itself, and server events without a session ID.
 */
function history(all: readonly Properties[], days = DAYS): readonly RowFields[] {
  return Array.from({ length: days }, (_, day) => T0 + day * DAY_MS).flatMap((at, day) => [
    ...all.flatMap((properties, nth) => [
      event(`all${day}`, at + 3600_000 + nth * 100, properties),
      event(`all${day}`, at + 7200_000 + nth * 100, properties, { country: 'FR' }),
      event(`one${day}-${nth}`, at + 7200_000 + nth, properties, { channel: 'Search' }),
      event('', at + 9000_000 + nth, properties, { visitor_id: `server${nth}`, source: 'server' }),
    ]),
    event(`all${day}`, at + 3600_000, {}, { type: 'pageview', event_name: '' }),
    event(`one${day}-0`, at + 7200_500, all[0] ?? {}, { type: 'pageview', event_name: '', pathname: '/b' }),
    event(`none${day}`, at + 7200_600, {}),
    event(`night${day}`, at + 23.8 * 3600_000, {}, { type: 'pageview', event_name: '' }),
    event(`night${day}`, at + 23.9 * 3600_000, all[0] ?? {}),
    event(`night${day}`, at + 24.2 * 3600_000, all.at(-1) ?? {}),
    event(`bot${day}`, at + 100, { ...all[0], bots: 'yes' }, { bot: 'Googlebot' }),
    event(`all${day}`, at + 3600_900, { ...all[0], internal: 'yes' }, { event_name: '$engagement' }),
  ]);
}

const build = (siteId: string, from = 0, to = DAYS) =>
  buildDays(context(), { siteId, fromMs: T0 + from * DAY_MS, toMs: T0 + to * DAY_MS, rows: 1 });

/**
 * The answer of a report as users get it, the same report from rows only, and the number of days that the first answer reads from slots. Without
 * `by`, it is the stats report.
 */
async function ask(siteId: string, by: Dimension | undefined, filters: readonly string[]) {
  const { analytics } = opened;
  const deps = { analytics, clock: () => T0 + 30 * DAY_MS };
  const site = { siteId, name: siteId, domain: 'example.com', timezone: 'UTC', limits: {}, createdAt: 0 };
  const query = { from: '2026-05-04', to: '2026-05-07', filters, steps: [] };
  const read = (await readReportRequest(site as never, query, deps, { by })) as { readonly value: ReportRequest };
  const answer = async (request: ReportRequest): Promise<object> => {
    const order = { metric: 'events', direction: 'desc' } as const;
    const part = { limit: 5000, page: 1, metrics: METRIC_NAMES };
    return by === undefined
      ? statsReport(request, 'hour', deps)
      : breakdownReport(request, { by, order, ...part }, deps);
  };
  const { scope } = read.value;
  const built = scope.visits.of === 'rows' ? scope.visits.built : undefined;
  const ofRows = { ...scope, visits: await visitSourceOf(scope, analytics) };
  return {
    slots: await answer(read.value),
    rows: await answer({ ...read.value, scope: ofRows }),
    days: built === undefined ? 0 : (built.toMs - built.fromMs) / DAY_MS,
  };
}

const propertyOf = (name: string): Dimension => dimensionOf(`property:${name}`) as Dimension;
const escaped = (text: string): string => text.replace(/[\\:,]/g, '\\$&');
const filterOn = (name: string, rest: string): string => `property:${escaped(name)}:${rest}`;

/** Asks for a breakdown by the property, and for stats with filters on it that the empty value passes and does not pass. */
async function expectEqual(site: string, name: string, days: number): Promise<readonly string[]> {
  const by = propertyOf(name);
  const breakdown = await ask(site, by, []);
  expect([name, breakdown.days, breakdown.slots]).toEqual([name, days, breakdown.rows]);
  for (const rest of ['is:', 'is_not:']) {
    const stats = await ask(site, undefined, [filterOn(name, rest)]);
    expect([name, rest, stats.days, stats.slots]).toEqual([name, rest, days, stats.rows]);
  }
  return (breakdown.slots as { readonly rows: readonly { readonly value: string }[] }).rows.map(({ value }) => value);
}

const VALUES: readonly (readonly [title: string, property: Properties, name: string, values: readonly string[]])[] = [
  ['a text', { plan: 'pro' }, 'plan', ['pro']],
  ['an empty text', { plan: '' }, 'plan', []],
  ['an integer', { plan: 7 }, 'plan', ['7']],
  ['a fraction', { plan: -2.75 }, 'plan', ['-2.75']],
  ['a boolean', { plan: false }, 'plan', ['false']],
  ['an array', { plan: ['x', 1] }, 'plan', ["['x',1]"]],
  ['an empty array', { plan: [] }, 'plan', ['[]']],
  ['a nested property', { item: { sku: 's1' } }, 'item.sku', ['s1']],
  ['an object in an array', { items: [{ sku: 's1' }] }, 'items', ['[\'{"sku":"s1"}\']']],
  ['a name with a quote', { "o'x": 'a' }, "o'x", ['a']],
  ['a name with a double quote', { 'o"x': 'a' }, 'o"x', ['a']],
  ['a name with a backslash', { 'o\\': 'a' }, 'o\\', ['a']],
  ['a name with a colon', { 'a:b': 'a' }, 'a:b', ['a']],
  ['a name like a parameter', { '{site:String}': 'a', '{pairs}': 'b' }, '{site:String}', ['a']],
  ['a name like a replacement', { "$&$'": 'a' }, "$&$'", ['a']],
  ['a name of other scripts', { 'größe 日本': 'ü' }, 'größe 日本', ['ü']],
];

test.each(VALUES)('reports on %s from slots and from rows are equal', async (title, property, name, values) => {
  const site = `value ${title}`.replaceAll(' ', '_');
  await insert(site, history([property, { ...property, other: 'x' }, { other: 'y' }]));
  expect(await build(site)).toMatchObject({ days: DAYS });
  expect(await expectEqual(site, name, DAYS)).toEqual(values);
  expect([...(await expectEqual(site, 'other', DAYS))].sort()).toEqual(['x', 'y']);
});

/** Names that may be subcolumns, and names that no slot contains. Their reports read the rows. */
const OTHER_NAMES: readonly (readonly [name: string, days: number])[] = [
  ['tags.size0', 0],
  ['tags.:Int64', 0],
  ['item', 0],
  ['^item', 0],
  ['`plan`', 0],
  ['items[].sku', 0],
  ['b`t', 0],
  ['a..b', 0],
  ['bots', DAYS],
  ['internal', DAYS],
  ['pla', DAYS],
  ['plans', DAYS],
  ['item.sk', DAYS],
];

test('a report on a name that may be a subcolumn reads rows, and one on an absent name reads slots', async () => {
  const all = [
    { plan: 'pro', tags: ['x'] },
    { item: { sku: 's' } },
    { 'b`t': 'q', 'a..b': 'r' },
    { items: [{ sku: 1 }] },
  ];
  await insert('names', history(all));
  await build('names');
  for (const [name, days] of OTHER_NAMES) await expectEqual('names', name, days);
});

test('all filters on a property are equal, alone, together, and with other filters and dimensions', async () => {
  const site = 'filters';
  await insert(site, history([{ plan: 'pro' }, { plan: 'free' }, { plan: 7, seats: 1 }, { seats: 2 }]));
  await build(site);
  const plain = FILTER_OPERATORS.map((operator) => [
    filterOn('plan', `${operator}:${operator.startsWith('m') ? 'p*' : 'pro'}`),
  ]);
  const filters: readonly (readonly string[])[] = [
    ...plain,
    ...['is:pro,', 'is_not:pro,', 'is:', 'is_not:', 'matches:*', 'matches_not:*'].map((rest) => [
      filterOn('plan', rest),
    ]),
    ...[filterOn('plan', 'is_not:pro'), filterOn('plan', 'contains:r')].map((one) => [one, 'country:is:FR']),
    [filterOn('plan', 'is_not:pro'), filterOn('plan', 'is_not:')],
    [filterOn('plan', 'is_not:pro'), filterOn('plan', 'matches_not:f*'), 'channel:is:Search'],
    [filterOn('plan', 'is:free'), 'done_event:is:buy'],
  ];
  for (const one of filters) {
    for (const by of [undefined, 'country', 'channel', 'property:plan']) {
      const { slots, rows, days } = await ask(site, by === undefined ? undefined : dimensionOf(by), one);
      expect([one, by, days, slots]).toEqual([one, by, DAYS, rows]);
    }
    for (const by of ['page', 'event', 'property:seats']) expect((await ask(site, dimensionOf(by), one)).days).toBe(0);
  }
});

test('each day has the names of its rows and of the next day', async () => {
  const site = 'by_day';
  await insert(site, [
    event('a', T0 + 1, { first: 1 }),
    event('b', T0 + DAY_MS + 1, { second: 1 }),
    event('c', T0 + 3 * DAY_MS - 1, { third: 1 }),
    event('c', T0 + 3 * DAY_MS + 1, { fourth: 1 }),
  ]);
  await build(site);
  const days = await opened.analytics.select(
    `SELECT arraySort(property_names) AS names, properties_left_out, lists_properties FROM visit_days WHERE site_id = '${site}' ORDER BY day`,
  );
  const wanted = ['first second', 'second third', 'fourth third'].map((names) => names.split(' '));
  expect(days).toEqual(wanted.map((names) => ({ names, properties_left_out: [], lists_properties: true })));
  for (const name of ['first', 'second', 'third', 'fourth']) await expectEqual(site, name, DAYS);
});

test('properties with many or long values, and names beyond the limit, are left out', async () => {
  const site = 'left_out';
  const orders = Array.from({ length: 2000 }, (_, nth) =>
    event(`o${nth}`, T0 + 1000 * nth, { order: `${nth}`.padEnd(60, 'x'), sku: `${nth}`, plan: 'pro' }),
  );
  await insert(site, [...orders, event('l', T0 + 5, { long: 'x'.repeat(101), short: 'y' })]);
  await build(site, 0, 1);
  await build(site, 1, DAYS);
  expect(await expectEqual(site, 'order', DAYS - 1)).toHaveLength(2000);
  expect(await expectEqual(site, 'sku', DAYS)).toHaveLength(2000);
  await expectEqual(site, 'long', DAYS - 1);
  await expectEqual(site, 'plan', DAYS);
  await expectEqual(site, 'short', DAYS);

  // Of 60 names on most rows, the slots have only as many as rows may have values.
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, nth) => [`many${String(nth).padStart(2, '0')}`, nth]));
  await insert('many', history([many, { few: 'x' }]));
  await build('many');
  const [row] = await opened.analytics.select<{ names: readonly string[]; left_out: number; lists: boolean }>(
    "SELECT property_names AS names, toUInt32(length(properties_left_out)) AS left_out, lists_properties AS lists FROM visit_days WHERE site_id = 'many' LIMIT 1",
  );
  expect(row?.names.length).toBeLessThan(60);
  expect(row).toMatchObject({ left_out: 61 - (row?.names.length ?? 0), lists: true });
  await expectEqual('many', 'few', DAYS);
  await expectEqual('many', Object.keys(many).find((name) => !row?.names.includes(name)) ?? '', 0);

  // `visit_days` lists only some of these names, so an absent name may be one of the others.
  const most = Object.fromEntries(Array.from({ length: 300 }, (_, nth) => [`most${nth}`, nth]));
  await insert('most', [...history([{ plan: 'x' }, { plan: 'y' }]), event('m', T0 + 1, most)]);
  await build('most');
  await expectEqual('most', 'plan', DAYS);
  await expectEqual('most', 'absent', 0);
  await expectEqual('most', 'most299', 0);
});

test('a build without properties stays valid for other reports, and is replaced after all other days', async () => {
  const site = 'older';
  await insert(site, history([{ plan: 'pro' }, { plan: 'free' }], DAYS + 1));
  await build(site);
  const { analytics } = opened;
  // As an older version of Weir builds: it names none of the new columns.
  await analytics.change(
    `INSERT INTO visit_days (site_id, day, build, slots, hits, late) SELECT site_id, day, build + 1000, slots, hits, late FROM visit_days WHERE site_id = '${site}'`,
  );
  await analytics.change(
    `INSERT INTO visit_slots SELECT * EXCEPT (property_names, property_values, property_views, property_events, page_visits) REPLACE (build + 1000 AS build),
     [], [], [], [], [] FROM visit_slots WHERE site_id = '${site}'`,
  );
  const plain = await ask(site, undefined, ['country:is:FR']);
  expect([plain.days, plain.slots]).toEqual([DAYS, plain.rows]);
  await expectEqual(site, 'plan', 0);
  await expectEqual(site, 'absent', 0);
  const groups = await daysToBuild(analytics, site, (day) => day > '2026-05-08');
  const days = groups.map(({ fromMs, toMs }) => [(fromMs - T0) / DAY_MS, (toMs - T0) / DAY_MS]);
  expect(days).toEqual([
    [DAYS, DAYS + 2],
    [0, DAYS],
  ]);
  for (const group of groups) await buildDays(context(), group);
  await expectEqual(site, 'plan', DAYS);
  expect(await daysToBuild(analytics, site, (day) => day > '2026-05-08')).toEqual([]);
});

test('a comparison of a day includes a property of its slots', async () => {
  const site = 'compared';
  await insert(site, history([{ plan: 'pro' }, { plan: 'free' }]));
  await build(site);
  const { analytics } = opened;
  const day = '2026-05-05';
  const compare = () => compareDay(site, Date.parse(day), analytics, ['stats']);
  expect(await compare()).toEqual({ site_id: site, day, reports: 3, differing: [] });
  await analytics.change(
    `INSERT INTO visit_slots (site_id, day, build, slot, hits, visitor_key, property_names, property_values, property_views, property_events)
     SELECT site_id, day, max(visit_days.build), toDateTime(day, 'UTC'), true, sipHash64(''), ['plan'], ['wrong'], [0], [1] FROM visit_days
     WHERE site_id = '${site}' AND day = '${day}' GROUP BY ALL`,
  );
  expect((await compare())?.differing).toEqual(['breakdown by property:plan', 'stats without property:plan']);
});

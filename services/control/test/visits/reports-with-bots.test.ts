import {
  batch,
  type ClickhouseUnderTest,
  openClickhouseUnderTest,
  type RowFields,
} from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';
import { breakdownReport } from '../../src/reports/breakdown-report.ts';
import { dimensionOf } from '../../src/reports/dimensions.ts';
import { METRIC_NAMES } from '../../src/reports/report-metrics.ts';
import { readReportRequest } from '../../src/reports/report-request.ts';
import { SESSIONS } from '../../src/reports/report-sql.ts';
import { statsReport } from '../../src/reports/stats-report.ts';
import { buildDays } from '../../src/visit-slots/build-days.ts';
import { buildContextOf } from '../visit-slots/slot-builds-harness.ts';
import { choicesOf, DAY_MS, DAYS, FILTERS, HOUR_MS, randomVisits, SEED, SITE, T0 } from './random-visits.ts';
import { stampRows } from './stamp-rows.ts';

// These tests compare reports that include bots: from the rows near the period or slots (docs/glossary.md), and from the view `sessions`. In some
// visits of the first site, some rows are from a bot. The second site has the same rows, but each row of a bot has a visitor and a session of its
// own. The rows of both sites have the stamps (docs/glossary.md) of the enricher. Some rows arrive late, and half of the visits are sent without a
// session ID, so late rows also move sessions. The third site has the rows of the first, without stamps.

/** From and to, in hours after `T0`. */
const SPANS = [
  [0, 12 * 24],
  [24, 9 * 24 + 7],
  [11.3, 8 * 24 - 0.2],
  [3 * 24, 4 * 24],
] as const;
const APART = 'apart';
const UNSTAMPED = 'unstamped';
const LATE_MS_MAX = 20 * HOUR_MS;
const VISIT = { site_id: SITE, visitor_id: 'v', session_id: 's', source: 'collect', type: 'pageview', pathname: '/a' };
/** On the day of the shortest of the `SPANS`, random visits often have no bot. */
const VISIT_WITH_BOT: readonly RowFields[] = [
  { ...VISIT, timestamp: T0 + 3.5 * DAY_MS },
  { ...VISIT, timestamp: T0 + 3.5 * DAY_MS + 1, bot: 'Googlebot', bot_reason: 'known_bot' },
];
const choices = choicesOf(SEED);

let opened: ClickhouseUnderTest;
beforeAll(async () => {
  opened = await openClickhouseUnderTest();
  await opened.analytics.migrate();
  const { analytics } = opened;
  const rows = [...randomVisits(choices), ...VISIT_WITH_BOT].map((row) =>
    row.bot === undefined ? row : { ...row, traffic_source: 'of bot' },
  );
  const sessions = new Set(rows.map((row) => row.session_id));
  const withoutId = new Set([...sessions].filter(() => choices.chance(0.5)));
  const sent = rows.map((row) => (withoutId.has(row.session_id) ? { ...row, session_id: '' } : row));
  const lateMs = (): number => (choices.chance(0.1) ? choices.random() * LATE_MS_MAX : 0);
  const arrival = new Map(sent.map((row) => [row, Number(row.timestamp) + lateMs()]));
  const arrived = sent.toSorted((a, b) => Number(arrival.get(a)) - Number(arrival.get(b)));
  const apart = arrived.map((row, nth) => ({
    ...{ ...row, site_id: APART },
    ...(row.bot !== undefined && {
      ...{ session_id: `bot${nth}`, visitor_id: `bot${nth}` },
      // If sessions have moved, a report assumes that the event of a bot from a server belongs to a visit.
      source: 'collect',
    }),
  }));
  const unstamped = rows.map((row) => ({ ...row, site_id: UNSTAMPED }));
  const stamped = stampRows(arrived);
  expect(stamped.filter((row) => row.visit_stamp === 1).length).toBeGreaterThan(200);
  expect(stamped.filter((row) => row.detail !== '').length).toBeGreaterThan(0);
  await analytics.insertRecords(batch(0, [...stamped, ...stampRows(apart), ...unstamped]));
  const days = { siteId: APART, fromMs: T0, toMs: T0 + DAYS * DAY_MS, rows: 1 };
  expect(await buildDays(buildContextOf(analytics), days)).toMatchObject({ days: DAYS });
}, 60_000);
afterAll(async () => {
  await opened?.close();
});

const NAMES = ['stats', 'bot', 'bot_reason', 'page', 'event', 'country', 'channel', 'source', 'entry', 'exit'];
const ON_UNSTAMPED = ['stats', 'bot', 'page', 'source'];
test.each([
  ...[SITE, APART].flatMap((site) => NAMES.map((name) => [site, name] as const)),
  ...ON_UNSTAMPED.map((name) => [UNSTAMPED, name] as const),
])(
  `on the site %s, the report by %s with bots is equal from rows and from sessions (WEIR_SLOT_SEED=${SEED})`,
  async (siteId, name) => {
    const by = dimensionOf(name);
    const site = { siteId, name: siteId, domain: 'a.example', timezone: 'UTC', limits: {}, createdAt: 0 };
    const deps = { analytics: opened.analytics, clock: () => T0 + 30 * DAY_MS };
    const sources = new Set<string>();
    for (const [nth, texts] of FILTERS.entries()) {
      const [fromHours, toHours] = SPANS[nth % SPANS.length] ?? SPANS[0];
      const query = {
        ...{ from: timeOf(fromHours), to: timeOf(toHours), bots: 'include', steps: [] },
        // Half of the breakdowns by bot also filter by a bot. A visit with rows of this bot can also have rows that the filter leaves out.
        filters: name === 'bot' && nth % 2 === 0 ? [...texts, 'bot:is:Googlebot'] : texts,
      };
      // Without metrics of visits, a breakdown uses other statements.
      const metrics = choices.pick([METRIC_NAMES, ['visitors', 'pageviews', 'events'] as const]);
      const read = await readReportRequest(site, query, deps, { by, ...(by !== undefined && { metrics }) });
      if ('problem' in read) throw new Error(read.problem);
      const { scope } = read.value;
      const { visits } = scope;
      sources.add(visits.of === 'sessions' ? visits.of : (visits.bots ?? 'rows'));
      if (visits.of === 'rows' && visits.built !== undefined) sources.add('slots');
      const order = { metric: choices.pick(metrics), direction: 'desc' as const };
      const ask = (request: typeof read.value): Promise<object> =>
        by === undefined
          ? statsReport(request, 'day', deps)
          : breakdownReport(request, { by, order, limit: 1000, page: 1, metrics }, deps);
      const found = await ask(read.value);
      const wanted = await ask({ ...read.value, scope: { ...scope, withVisits: true, visits: SESSIONS } });
      expect([query, found]).toEqual([query, wanted]);
    }
    // `sources` has `rows` if the report does not need the visits of bots.
    const ofBots = siteId !== APART ? ['visiting'] : by?.isOfBots ? ['apart'] : ['apart', 'slots'];
    expect([...sources].sort()).toEqual([...ofBots, ...(by?.scope === 'visit' ? [] : ['rows'])].sort());
  },
  300_000,
);

function timeOf(hours: number): string {
  return new Date(T0 + hours * HOUR_MS).toISOString();
}

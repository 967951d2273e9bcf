import { madeSessionId } from '@weir/domain/records/made-session';
import {
  batch,
  type RowFields,
  useClickhouse,
} from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';
import { breakdownReport } from '../../src/reports/breakdown-report.ts';
import { dimensionOf } from '../../src/reports/dimensions.ts';
import { METRIC_NAMES } from '../../src/reports/report-metrics.ts';
import { readReportRequest } from '../../src/reports/report-request.ts';
import { SESSIONS } from '../../src/reports/report-sql.ts';
import { DAY_MS, HOUR_MS, T0 } from './random-visits.ts';

/** The visits to which rows of bots belong. Each test has a site with a bot at noon of the day of the reports, which begins at `T0`. */
let inserted = 0;
let sites = 0;
const opened = useClickhouse({ openMs: 60_000 });

const NOON = T0 + 12 * HOUR_MS;
/** In the form of the IDs that Weir makes. */
const OTHER_MADE = `s_${'0'.repeat(32)}`;
const newSite = (): string => `site${sites++}`;
const person = (at: number, row: RowFields = {}): RowFields => ({
  ...{ timestamp: at, source: 'collect', type: 'pageview', pathname: '/of-person', visitor_id: 'v', session_id: 's' },
  ...{ traffic_source: 'of person', visit_stamp: 1, visit_started: at, visit_new: 1, visit_entry: '/of-person' },
  ...{ visit_source: 'of person', ...row },
});
const bot = (row: RowFields = {}): RowFields => ({
  ...{ timestamp: NOON, source: 'collect', type: 'pageview', pathname: '/of-bot', visitor_id: 'v', session_id: 's' },
  ...{ traffic_source: 'of bot', bot: 'Googlebot', bot_reason: 'known_bot', ...row },
});

async function insert(siteId: string, rows: readonly RowFields[]): Promise<void> {
  await opened.analytics.insertRecords(
    batch(
      inserted,
      rows.map((row) => ({ ...row, site_id: siteId })),
    ),
  );
  inserted += rows.length;
}

/** The source of the bot in a report of the day, and how the report finds its visit. */
async function sourceOfBot(siteId: string) {
  const by = dimensionOf('source');
  if (by === undefined) throw new Error('no dimension');
  const site = { siteId, name: siteId, domain: 'a.example', timezone: 'UTC', limits: {}, createdAt: 0 };
  const deps = { analytics: opened.analytics, clock: () => T0 + 30 * DAY_MS };
  const day = new Date(T0).toISOString().slice(0, 10);
  const order = { metric: 'pageviews', direction: 'desc' } as const;
  const answers = [];
  let found: string | undefined = '';
  for (const filters of [['bot:is:Googlebot'], []]) {
    const query = { from: day, to: day, bots: 'include', steps: [], filters };
    const read = await readReportRequest(site, query, deps, { by });
    if ('problem' in read) throw new Error(read.problem);
    const { scope } = read.value;
    found = scope.visits.of === 'rows' ? scope.visits.bots : undefined;
    const ask = (visits: typeof scope.visits) =>
      breakdownReport(
        { ...read.value, scope: { ...scope, visits } },
        { by, order, limit: 10, page: 1, metrics: METRIC_NAMES },
        deps,
      );
    const answer = await ask(scope.visits);
    expect(answer).toEqual(await ask(SESSIONS));
    answers.push(answer as unknown as { readonly rows: readonly { readonly value: string }[] });
  }
  return { source: answers[0]?.rows.map(({ value }) => value), found };
}

test('a bot that shares no session with a person has its own source', async () => {
  const site = newSite();
  await insert(site, [
    bot({ session_id: 'of bot' }),
    person(NOON + 1),
    person(NOON - 50 * DAY_MS, { session_id: 'old' }),
  ]);
  expect(await sourceOfBot(site)).toEqual({ source: ['of bot'], found: 'apart' });
});

test.each([
  ['an hour before', NOON - HOUR_MS],
  ['20 hours before', NOON - 20 * HOUR_MS],
  ['30 hours before the period', T0 - 30 * HOUR_MS],
  ['47 hours before the period', T0 - 47 * HOUR_MS],
  ['50 days before', NOON - 50 * DAY_MS],
  ['50 days after', NOON + 50 * DAY_MS],
])('a bot has the source of the visit whose session ID it has, also if the visit is %s', async (_, at) => {
  const site = newSite();
  await insert(site, [bot(), person(at)]);
  expect(await sourceOfBot(site)).toEqual({ source: ['of person'], found: 'visiting' });
});

test('rows of a person that are stored after a report change the next report at once', async () => {
  const site = newSite();
  await insert(site, [bot()]);
  for (let nth = 0; nth < 3; nth++) expect(await sourceOfBot(site)).toEqual({ source: ['of bot'], found: 'apart' });
  await insert(site, [person(NOON - 40 * DAY_MS)]);
  expect(await sourceOfBot(site)).toEqual({ source: ['of person'], found: 'visiting' });
});

test('a visit has two days of rows: those near the period do not have its first row', async () => {
  const site = newSite();
  const first = person(T0 - 30 * HOUR_MS, { visit_source: 'first', traffic_source: 'first' });
  await insert(site, [bot(), first, person(T0 - 10 * HOUR_MS, { visit_stamp: 2 })]);
  expect(await sourceOfBot(site)).toEqual({ source: ['first'], found: 'visiting' });
});

test.each([
  ['near', NOON - HOUR_MS],
  ['far', NOON - 50 * DAY_MS],
])('a bot has the source of a visit whose rows have moved to the session of the bot (%s)', async (_, at) => {
  const site = newSite();
  const moved = { session_id: OTHER_MADE, visit_stamp: 2, detail: '{"session_moved":true}' };
  await insert(site, [bot({ session_id: madeSessionId(site, 'v', at) }), person(at, moved)]);
  expect(await sourceOfBot(site)).toEqual({ source: ['of person'], found: 'visiting' });
});

test.each([
  ['near', NOON - HOUR_MS],
  ['far', NOON - 50 * DAY_MS],
])('an event of a bot from a server has the source of a moved visit that it names (%s)', async (_, at) => {
  const site = newSite();
  const moved = { session_id: OTHER_MADE, visit_stamp: 2, detail: '{"session_moved":true}' };
  const event = { source: 'server', type: 'event', event_name: 'paid', visitor_id: '' };
  await insert(site, [bot({ ...event, session_id: madeSessionId(site, 'v', at) }), person(at, moved)]);
  expect(await sourceOfBot(site)).toEqual({ source: ['of person'], found: 'visiting' });
});

/** Stores what the expired rows of a visit of the visitor `v` have left in `sessions_kept`. */
async function keepVisit(siteId: string, sessionId: string, began: number): Promise<void> {
  const place = "(toUInt128(1), '/of-person')";
  const head = ['v', '', '', 'of person', ...Array.from({ length: 11 }, () => '')].join('\\0');
  const time = `fromUnixTimestamp64Milli(${began})`;
  await opened.analytics.change(
    `INSERT INTO sessions_kept (site_id, made_for, session_id, part, visited, started_at, ended_at, pageviews, events, entry, exit, first)
     VALUES ('${siteId}', 'v', '${sessionId}', 'p', true, ${time}, ${time}, 1, 0, ${place}, ${place}, (toUInt128(1), '${head}'))`,
  );
}

test.each([['not moved'], ['moved']])('a bot has the source of a visit whose rows have expired (%s)', async (kind) => {
  const site = newSite();
  const began = NOON - 50 * DAY_MS;
  const isMoved = kind === 'moved';
  await insert(site, [bot({ session_id: isMoved ? madeSessionId(site, 'v', began) : 's' })]);
  await keepVisit(site, isMoved ? OTHER_MADE : 's', began);
  if (isMoved)
    await opened.analytics.change(
      `INSERT INTO moved_hours (site_id, visitor_id, hour) VALUES ('${site}', 'v', toStartOfHour(fromUnixTimestamp64Milli(${began})))`,
    );
  expect(await sourceOfBot(site)).toEqual({ source: ['of person'], found: 'visiting' });
});

test.each([
  ['of the same visitor', {}],
  ['from a server', { source: 'server', type: 'event', event_name: 'paid', visitor_id: '' }],
])('a bot %s has the source of an expired visit, also if only a later visit has moved', async (_, row) => {
  const site = newSite();
  const began = NOON - 50 * DAY_MS;
  const later = { session_id: `s_${'1'.repeat(32)}`, visit_stamp: 2, detail: '{"session_moved":true}' };
  await insert(site, [bot({ session_id: madeSessionId(site, 'v', began), ...row }), person(NOON + HOUR_MS, later)]);
  await keepVisit(site, OTHER_MADE, began);
  expect(await sourceOfBot(site)).toEqual({ source: ['of person'], found: 'visiting' });
});

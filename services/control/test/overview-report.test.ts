import { madeSessionId } from '@weir/domain/records/made-session';
import type { Site } from '@weir/domain/registry/site';
import {
  batch,
  type ClickhouseUnderTest,
  openClickhouseUnderTest,
  type RowFields,
} from '../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';
import { type OverviewRequest, overviewReport } from '../src/reports/overview/overview-report.ts';

/**
 * A few days after the clock changes of Europe (25 October) and America (1 November). With these changes, the days of all time zones begin at more
 * different times, so the parameters of a statement are longer.
 */
const NOW = Date.UTC(2026, 10, 3, 12, 34);
/** The default of ClickHouse for `http_max_field_value_size`. */
const PARAMETER_CHARS_MAX = 131_072;
/** An earlier version of Weir accepted the last of these zones. Reports of a site with this zone are in UTC. */
const ZONES = ['UTC', 'Europe/Berlin', 'Asia/Kolkata', '+05:30'];
const SITES = ZONES.map(
  (timezone, nth): Site => ({
    ...{ siteId: `site-${nth}`, name: '', domain: 'example.com', limits: {} },
    ...{ timezone, createdAt: 0 },
  }),
);

let opened: ClickhouseUnderTest;
beforeAll(async () => {
  opened = await openClickhouseUnderTest();
  await opened.analytics.migrate();
  await opened.analytics.insertRecords(batch(0, SITES.flatMap(rowsOf)));
}, 60_000);
afterAll(async () => {
  await opened?.close();
});

/**
 * Visits of a few pages in the ten days before `NOW`. Some visits continue over midnight. There are also bots, internal events of Weir, and late hits
 * that join two visits.
 */
function rowsOf({ siteId }: Site, nth: number): readonly RowFields[] {
  return Array.from({ length: 120 }, (_, visit) => {
    // Two visits of a visitor, 25 minutes apart. A late hit joins some of these pairs.
    const pair = Math.floor(visit / 2);
    const visitor = `v${pair % 17}`;
    const start = NOW - 1 - (((pair * (7 + nth) * 29) % (10 * 24 * 60)) + 25 * (visit % 2)) * 60_000;
    const session_id = madeSessionId(siteId, visitor, start);
    return Array.from({ length: 1 + (visit % 4) }, (_, page): RowFields => {
      const kind = visit % 11 === 0 && page === 1 ? { type: 'event', event_name: '$engagement' } : {};
      const moved = visit % 5 === 0 && page === 0 ? { detail: '{"session_moved":true}' } : {};
      return {
        ...{ site_id: siteId, visitor_id: visitor, session_id, pathname: `/${page}` },
        ...{ timestamp: Math.min(NOW - 1, start + page * 9 * 60_000), bot: visit % 13 === 0 ? 'Googlebot' : '' },
        ...{ ...kind, ...moved },
      };
    });
  }).flat();
}

const ask = async (request: Partial<OverviewRequest>, ownMin?: number): Promise<Record<string, unknown>> => {
  const asked = { ...{ sites: SITES, interval: undefined, withBots: false, withExplanation: false } };
  const query = { filters: [], steps: [] };
  const deps = { analytics: opened.analytics, clock: () => NOW };
  const report = await overviewReport({ ...asked, period: query, ...request }, deps, ownMin);
  if ('problem' in report) throw new Error(report.problem);
  return report.value as Record<string, unknown>;
};

test('sessions of each site have moved', async () => {
  const moved = await opened.analytics.select('SELECT DISTINCT site_id FROM session_moves ORDER BY site_id');
  expect(moved).toEqual(SITES.map(({ siteId }) => ({ site_id: siteId })));
});

test.each([
  ['24h', undefined, false],
  ['7d', undefined, false],
  ['7d', 'hour', false],
  ['30d', 'week', true],
  ['yesterday', undefined, false],
] as const)(
  '%s by %s: sites with statements of their own have the numbers of one statement for all',
  async (period, interval, withBots) => {
    const request = { period: { period, filters: [], steps: [] }, interval, withBots };
    const together = await ask(request);
    expect(JSON.stringify(together)).toContain('"visits":');
    expect(await ask(request, 1)).toEqual(together);
  },
);

test('sites in all time zones fit into one statement', async () => {
  const others = Intl.supportedValuesOf('timeZone').map(
    (timezone, nth): Site => ({
      ...{ siteId: `other-${nth}`, name: '', domain: 'example.com', limits: {} },
      ...{ timezone, createdAt: 0 },
    }),
  );
  const request = { period: { period: '7d', filters: [], steps: [] }, interval: 'hour' } as const;
  const { sites, explain } = await ask({ ...request, sites: [...SITES, ...others], withExplanation: true });
  expect((sites as readonly object[]).slice(0, SITES.length)).toEqual((await ask(request)).sites);
  const [{ params }] = (explain as { statements: readonly [{ params: object }] }).statements;
  const lengths = Object.values(params).map((value) => JSON.stringify(value).length);
  expect(Math.max(...lengths)).toBeLessThan(PARAMETER_CHARS_MAX);
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBeGreaterThan(PARAMETER_CHARS_MAX);
});

test('explain has the statements that were asked', async () => {
  const statementsOf = async (ownMin?: number): Promise<readonly string[]> => {
    const { explain } = await ask({ withExplanation: true }, ownMin);
    return (explain as { statements: { of: string }[] }).statements.map(({ of }) => of);
  };
  expect(await statementsOf()).toEqual(['overview', 'present']);
  expect(await statementsOf(1)).toEqual(['present', ...SITES.flatMap(() => ['stats', 'comparison'])]);
});

test('without sites, nothing is asked', async () => {
  const { sites } = await ask({ sites: [] });
  expect(sites).toEqual([]);
});

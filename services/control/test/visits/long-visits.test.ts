import {
  batch,
  type RowFields,
  useClickhouse,
} from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';
import { visitSourceOf } from '../../src/reports/visits/visit-source.ts';
import { choicesOf, DAY_MS, HOUR_MS, SEED, T0 } from './random-visits.ts';

const SITES = 30;
const PERIODS_PER_SITE = 8;

const opened = useClickhouse({ openMs: 60_000 });

test(`a report reads sessions if a visit of its period continues for more than a day beyond it (WEIR_SLOT_SEED=${SEED})`, async () => {
  const { random, chance } = choicesOf(SEED);
  const times: number[][] = [];
  const rows: RowFields[] = [];
  for (let nth = 0; nth < SITES; nth++) {
    const hits: number[] = [T0 + Math.floor(random() * DAY_MS)];
    // Consecutive hits of a visit are at most a day apart. Half of the gaps are nearly a day. Every third visit has one hit, so it is short.
    for (let more = nth % 3 === 0 ? 0 : random() * 5; more > 0; more--) {
      const gap = chance(0.5) ? DAY_MS - random() * HOUR_MS : random() * 12 * HOUR_MS;
      hits.push((hits.at(-1) ?? 0) + Math.floor(gap));
    }
    times.push(hits);
    const visit = { site_id: `site${nth}`, visitor_id: 'v', session_id: 's', type: 'pageview', source: 'collect' };
    rows.push(...hits.map((timestamp) => ({ ...visit, timestamp })));
  }
  await opened.analytics.insertRecords(batch(0, rows));

  const found = { long: 0, short: 0 };
  for (const [nth, hits] of times.entries()) {
    const [first = 0, last = 0] = [hits[0], hits.at(-1)];
    for (let asked = 0; asked < PERIODS_PER_SITE; asked++) {
      const fromMs = first + Math.floor((random() * 4 - 1) * DAY_MS);
      const toMs = fromMs + Math.floor((0.02 + random()) * 2 * DAY_MS);
      const hasRows = hits.some((at) => at >= fromMs && at < toMs);
      const isLong = hasRows && (first < fromMs - DAY_MS || last >= toMs + DAY_MS);
      const scope = { siteId: `site${nth}`, period: { zone: 'UTC', fromMs, toMs }, withBots: false, filters: [] };
      const { of } = await visitSourceOf(scope, opened.analytics);
      if (isLong) found.long += 1;
      // For a visit that is nearly a day long, a report may also read `sessions`, without need. So such visits are not compared.
      const isShort = last - first < 22 * HOUR_MS;
      if (isShort) found.short += 1;
      if (isLong || isShort)
        expect([hits, fromMs, toMs, of]).toEqual([hits, fromMs, toMs, isLong ? 'sessions' : 'rows']);
    }
  }
  expect(found.long).toBeGreaterThan(10);
  expect(found.short).toBeGreaterThan(20);
}, 120_000);

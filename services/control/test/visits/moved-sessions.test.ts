import { madeSessionId, SESSION_IDLE_MS } from '@weir/domain/records/made-session';
import {
  batch,
  type RowFields,
  useClickhouse,
} from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';
import { breakdownReport } from '../../src/reports/breakdown-report.ts';
import { dimensionOf } from '../../src/reports/dimensions.ts';
import { METRIC_NAMES } from '../../src/reports/report-metrics.ts';
import { type ReportRequest, readReportRequest } from '../../src/reports/report-request.ts';
import type { AskedScope } from '../../src/reports/report-sql.ts';
import { FIND_MOVED } from '../../src/reports/visits/visit-rows.ts';
import { visitSourceOf } from '../../src/reports/visits/visit-source.ts';
import { HOUR_MS, SEED, SITE, T0 } from './random-visits.ts';

const HOURS = 60;

const opened = useClickhouse({ openMs: 60_000 });

let state = SEED;
/** A number from 0 to `max` - 1, from a linear congruential generator. */
function below(max: number): number {
  state = (Math.imul(state, 1664525) + 1013904223) | 0;
  return Math.floor(((state >>> 0) / 2 ** 32) * max);
}

/**
 * Makes rows of 25 visitors. Many hits of a visitor have different session IDs, but are at most 30 minutes apart and so belong to one session. Some
 * rows have the mark `session_moved`, which the enricher sets on a late hit that joins sessions.
 */
function randomRows(): readonly RowFields[] {
  return Array.from({ length: 600 }, () => {
    const visitor = `v${below(25)}`;
    // Times are multiples of 15 minutes, so that some sessions are exactly 30 minutes apart.
    const timestamp = T0 + below(HOURS * 4) * 15 * 60_000;
    const sent = below(20) === 0 ? `sent-${below(50)}` : undefined;
    return {
      ...{ site_id: SITE, visitor_id: visitor, timestamp, pathname: '/' },
      session_id: sent ?? madeSessionId(SITE, visitor, timestamp - below(2) * SESSION_IDLE_MS),
      ...(below(3) === 0 ? { visit_stamp: 1, visit_started: timestamp - below(4) * 15 * 60_000 } : { visit_stamp: 2 }),
      ...(below(12) === 0 ? { detail: '{"session_moved":true}' } : {}),
      ...(below(30) === 0 ? { source: 'server', type: 'event', event_name: 'paid' } : {}),
    };
  });
}

test(`visitSourceOf finds the same moved sessions as FIND_MOVED and the view session_moves (WEIR_SLOT_SEED=${SEED})`, async () => {
  const { analytics } = opened;
  await analytics.insertRecords(batch(0, randomRows()));
  const period = { zone: 'UTC', fromMs: T0, toMs: T0 + HOURS * HOUR_MS };
  const scope: AskedScope = { siteId: SITE, period, withBots: false, filters: [] };
  const visits = await visitSourceOf(scope, analytics);
  if (visits.of !== 'rows' || visits.near.moved === undefined) throw new Error('the report reads sessions');
  const [stored, present] = visits.near.moved;
  const found = stored.map((id, index) => [id, present[index]]).sort();

  const params = { site: SITE, from: period.fromMs, to: period.toMs };
  const [row] = (
    await analytics.userQuery(`SELECT ${FIND_MOVED} AS moved, moved.1 AS stored, moved.2 AS present`, params)
  ).rows as readonly { stored: readonly string[]; present: readonly string[] }[];
  expect(found).toEqual(row?.stored.map((id, index) => [id, row.present[index]]).sort());

  const view = await analytics.select<{ fragment_id: string; session_id: string }>(
    'SELECT fragment_id, session_id FROM session_moves WHERE site_id = {site:String}',
    { site: SITE },
  );
  expect(found).toEqual([['', ''], ...view.map(({ fragment_id, session_id }) => [fragment_id, session_id])].sort());
  expect(found.length).toBeGreaterThan(20);
}, 60_000);

test('the statements that explain=1 shows contain no session IDs, and return the numbers of the report', async () => {
  const { analytics } = opened;
  const deps = { analytics, clock: () => T0 + HOURS * HOUR_MS };
  const site = { siteId: SITE, name: SITE, domain: 'example.com', timezone: 'UTC', limits: {}, createdAt: 0 };
  const by = dimensionOf('source');
  if (by === undefined) throw new Error('there is no dimension of sources');
  const report = async (explain: '0' | '1') => {
    const query = { from: '2026-10-20', to: '2026-10-22', explain, filters: [], steps: [] };
    const read = await readReportRequest(site, query, deps, { by });
    const { value } = read as { readonly value: ReportRequest };
    const order = { metric: 'visitors', direction: 'desc' } as const;
    const asked = { by, order, metrics: METRIC_NAMES, limit: 100, page: 1 };
    return { request: value, answer: (await breakdownReport(value, asked, deps)) as Readonly<Record<string, unknown>> };
  };
  const usual = await report('0');
  expect(JSON.stringify(usual.request)).toMatch(/s_[0-9a-f]{32}/);
  const { explain, ...shown } = (await report('1')).answer;
  expect(shown).toEqual(usual.answer);
  expect(JSON.stringify(explain)).not.toMatch(/s_[0-9a-f]{32}/);
  const { statements } = explain as {
    readonly statements: readonly { readonly sql: string; readonly params: object }[];
  };
  const [first] = statements;
  const { rows } = await analytics.userQuery(first?.sql ?? '', { ...first?.params });
  expect(rows.map(({ visits }) => visits)).toEqual(
    (usual.answer.rows as readonly { readonly visits: number }[]).map(({ visits }) => visits),
  );
}, 60_000);

import { madeSessionId, SESSION_IDLE_MS } from '@weir/domain/records/made-session';
import {
  batch,
  type RowFields,
  useClickhouse,
} from '../../../../packages/adapters/test/clickhouse/clickhouse-harness.ts';
import type { AskedScope } from '../../src/reports/report-sql.ts';
import { FIND_MOVED } from '../../src/reports/visits/visit-rows.ts';
import { visitSourceOf } from '../../src/reports/visits/visit-source.ts';

const SEED = Number(process.env.WEIR_SLOT_SEED ?? Math.floor(Math.random() * 2 ** 31));
const HOUR_MS = 3600_000;
const T0 = Date.UTC(2026, 9, 20);
const HOURS = 60;
const SITE = 'shop';

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

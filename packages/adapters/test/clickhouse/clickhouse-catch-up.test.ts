import { createClient } from '@clickhouse/client';
import { everyKind, tableCounts, useClickhouse } from './clickhouse-harness.ts';

const opened = useClickhouse({ openMs: 60_000 });

const BATCH = everyKind(0);
const NOT_FILLED_BY_INSERTS = ['audit_checkpoints', 'sessions_kept', 'visit_days', 'visit_months', 'visit_slots'];

test('after an interrupted insert, the repeated insert adds only what each view lacks', async () => {
  const { url, username, password } = opened.clickhouse;
  const server = createClient({ url, username, password, database: 'weir' });
  await opened.analytics.insertRecords(BATCH);
  const whole = await tableCounts(opened.analytics);
  // These tables are empty, because inserts do not fill them. The audit fills `audit_checkpoints`, retention fills `sessions_kept`, and a job of
  // the control role fills `visit_days`, `visit_months` and `visit_slots`.
  expect(Object.keys(whole).filter((name) => whole[name] === 0)).toEqual(NOT_FILLED_BY_INSERTS);
  expect(whole).toMatchObject({ records: 5, books_sums: 5, moved_hours: 1, payments_log: 1, links_log: 1 });
  for (const name of Object.keys(whole)) {
    if (name === 'records' || NOT_FILLED_BY_INSERTS.includes(name)) continue;
    // Simulates a server that ended before it filled this table. TRUNCATE removes the rows of the table and its deduplication tokens.
    await server.command({ query: `TRUNCATE TABLE ${name}` });
    expect((await tableCounts(opened.analytics))[name]).toBe(0);
    await opened.analytics.insertRecords(BATCH);
    expect([name, await tableCounts(opened.analytics)]).toEqual([name, whole]);
  }
  await server.close();
});

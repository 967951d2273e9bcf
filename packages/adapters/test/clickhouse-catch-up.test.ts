import { createClient } from '@clickhouse/client';
import { batch, type ClickhouseUnderTest, identify, openClickhouseUnderTest } from './clickhouse-harness.ts';

let opened: ClickhouseUnderTest;
beforeAll(async () => {
  opened = await openClickhouseUnderTest();
  await opened.analytics.migrate();
}, 60_000);
afterAll(() => opened.close());

const visit = { session_id: 's_0', visitor_id: 'v' };
const person = {
  profile_id: 'p',
  user_id: 'u',
  email: 'a@b.example',
  traits: { plan: 'pro' },
  payment_customer_id: 'c',
};
const BATCH = batch(0, [
  visit,
  { ...visit, detail: '{"session_moved":true}' },
  { source: 'server', type: 'event', event_name: 'paid', value: 5, value_text: '5', properties: { currency: 'EUR' } },
  identify(person, { visitor_id: 'v' }),
  { outcome: 'dead', detail: '{"topic":"events.raw","partition":0,"offset":4,"stage":"enricher"}' },
]);

/** What stands in a target: sums where rows are summed up, as merges make fewer rows of them. */
async function contents(): Promise<Readonly<Record<string, unknown>>> {
  const tables = await opened.analytics.select<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree' AND name != 'schema_migrations'",
  );
  const counts: Record<string, string> = { session_fragments: 'sum(pageviews)', books_sums: 'sum(books_sums.records)' };
  const found: Record<string, unknown> = {};
  for (const { name } of tables) {
    const [row] = await opened.analytics.select<{ n: unknown }>(
      `SELECT toUInt32(${counts[name] ?? 'count()'}) AS n FROM ${name}`,
    );
    found[name] = row?.n;
  }
  return found;
}

test('design: "the table drops what it has, the views catch up on what they lack", each view, whatever stands between', async () => {
  const { url, username, password } = opened.clickhouse;
  const server = createClient({ url, username, password, database: 'weir' });
  await opened.analytics.insertRecords(BATCH);
  const whole = await contents();
  expect(Object.entries(whole).filter(([, n]) => n === 0)).toEqual([]);
  expect(whole).toMatchObject({ records: 5, books_sums: 5, session_fragments: 2, payments_log: 1, links_log: 1 });
  for (const name of Object.keys(whole)) {
    if (name === 'records') continue;
    // As if the server had died before this view was filled: its window forgets with its parts.
    await server.command({ query: `TRUNCATE TABLE ${name}` });
    expect((await contents())[name]).toBe(0);
    await opened.analytics.insertRecords(BATCH);
    expect([name, await contents()]).toEqual([name, whole]);
  }
  await server.close();
});

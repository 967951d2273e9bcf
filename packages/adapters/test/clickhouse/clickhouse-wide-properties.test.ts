import { batch, identify, openEmbeddedUnderTest, useClickhouse } from './clickhouse-harness.ts';

const opened = useClickhouse();

/** A value whose type depends on `n` and `k`. */
function someValue(n: number, k: number): unknown {
  const q = `q${(k * 5 + n) % 64}`;
  const kinds = [n, n + 0.5, `s${n}`, true, [n], [n + 0.5], ['s'], [true], [[n]], [['s']], [n, 's', true], [[n, 's']]];
  return (n + k) % 2 === 0 ? kinds[(n + k) % kinds.length] : [{ [q]: kinds[(n * 3 + k) % 4] }];
}

/** The properties of a large event: 136 keys on all levels together, 7 KB. docs/api.md allows 200 keys and 32 KiB. */
function properties(n: number): Record<string, unknown> {
  const entries = Array.from({ length: 90 }, (_, k) => [`t${(k + n * 37) % 256}`, someValue(n, k)]);
  return { ...Object.fromEntries(entries), pad: 'y'.repeat(5500) + n };
}

test('properties of many shapes do not create a part with more files than a process may open', async () => {
  let next = 0;
  for (let i = 0; i < 4; i++) {
    const rows = Array.from({ length: 2_000 }, (_, n) => ({ site_id: 'w', properties: properties(next + n) }));
    await opened.analytics.insertRecords(batch(next, rows));
    next += rows.length;
  }
  const sql = "SELECT max(files) AS files FROM system.parts WHERE table = 'records'";
  const [found] = (await opened.analytics.userQuery(sql, {})).rows;
  expect(Number(found?.files)).toBeLessThan(1_000);
  const shown = 'SELECT count() AS n, countIf(properties.pad IS NOT NULL) AS pads FROM events';
  expect((await opened.analytics.userQuery(shown, {})).rows).toEqual([{ n: next, pads: next }]);
});

test('a merge of rows with 75,000 names of properties needs less than 512 MiB of memory', async () => {
  const { analytics, clickhouse, close } = await openEmbeddedUnderTest(512 * 1024 * 1024);
  try {
    await analytics.migrate();
    const names = (row: number): number => (row % 4 === 0 ? 50 : 1);
    const namedProperties = (row: number): Record<string, unknown> =>
      Object.fromEntries(
        Array.from({ length: names(row) }, (_, n) => [`p${row}_${n}`, `value ${row} ${n} `.repeat(4)]),
      );
    for (let from = 0; from < 6_000; from += 300) {
      const rows = Array.from({ length: 300 }, (_, n) => ({ site_id: 'n', properties: namedProperties(from + n) }));
      await analytics.insertRecords(batch(from, rows));
    }
    const { url, username, password } = clickhouse;
    const headers = { 'x-clickhouse-user': username, 'x-clickhouse-key': password };
    const answer = await fetch(url, { method: 'POST', headers, body: 'OPTIMIZE TABLE weir.records FINAL' });
    expect([answer.status, await answer.text()]).toEqual([200, '']);
    const shown = 'SELECT count() AS n, countIf(properties.p4_49 IS NOT NULL) AS named FROM events';
    expect((await analytics.userQuery(shown, {})).rows).toEqual([{ n: 6_000, named: 1 }]);
  } finally {
    await close();
  }
});

test('the history of a visitor with 5,000 identifies needs less than 512 MiB of memory', async () => {
  const { analytics, close } = await openEmbeddedUnderTest(512 * 1024 * 1024);
  try {
    await analytics.migrate();
    const rows = Array.from({ length: 5_000 }, (_, n) =>
      identify(
        { profile_id: `p${n % 2}`, user_id: `u${n % 2}` },
        { site_id: 'i', visitor_id: 'v', user_id: `u${n % 2}` },
      ),
    );
    await analytics.insertRecords(batch(0, rows));
    const history = 'SELECT count() AS changes, uniqExact(profile_id) AS profiles FROM links_in_time';
    expect(await analytics.select(history)).toMatchObject([{ changes: 5_000, profiles: 2 }]);
  } finally {
    await close();
  }
});

import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openClickhouseAnalytics } from '../../src/clickhouse/clickhouse-analytics.ts';
import { batch, useClickhouse } from './clickhouse-harness.ts';

const opened = useClickhouse();

const NUMBERS = 'SELECT count() AS n FROM (SELECT number FROM numbers(1000000) WHERE number % 2 = 0)';
const JOINED =
  'SELECT count() AS n FROM numbers(200000) AS a JOIN (SELECT number FROM numbers(200000)) AS b ON a.number = b.number';

/** Opens the tables as if the default profile of the server had these settings: a proxy adds them to the requests that do not set them. */
async function withProfile<T>(
  settings: Readonly<Record<string, string>>,
  work: (analytics: ReturnType<typeof openClickhouseAnalytics>) => Promise<T>,
): Promise<T> {
  const { clickhouse } = opened;
  const proxy = createServer((request, response) => {
    const url = new URL(request.url ?? '', clickhouse.url);
    for (const [name, value] of Object.entries(settings)) {
      if (!url.searchParams.has(name)) url.searchParams.set(name, value);
    }
    const sent = send(url, { method: request.method ?? 'POST', headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(sent);
  });
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const migrationsDir = join(__dirname, '../../../../schemas/clickhouse');
  const analytics = openClickhouseAnalytics({ ...clickhouse, url, migrationsDir });
  try {
    return await work(analytics);
  } finally {
    await analytics.close();
    await new Promise((resolve) => void proxy.close(resolve));
  }
}

test('a row that ClickHouse cannot read is refused, also if the profile lets inserts skip such rows', async () => {
  const profile = { input_format_allow_errors_num: '10', input_format_allow_errors_ratio: '0.9' };
  const planned = batch(0, [{ site_id: 'skip' }, { site_id: 'skip', screen_width: 'wide' }, { site_id: 'skip' }]);
  await expect(withProfile(profile, (analytics) => analytics.insertRecords(planned))).rejects.toMatchObject({
    code: 'analytics_refused',
  });
  const count = "SELECT toUInt32(count()) AS n FROM records WHERE site_id = 'skip'";
  expect(await opened.analytics.select(count)).toEqual([{ n: 0 }]);
});

test('an insert that a view refuses fails, also if the profile ignores the errors of views', async () => {
  await opened.analytics.change(
    "CREATE MATERIALIZED VIEW refusing ENGINE = Memory AS SELECT throwIf(CAST(site_id, 'String') = 'refused') AS one FROM records",
  );
  const planned = batch(10, [{ site_id: 'refused' }]);
  const profile = { materialized_views_ignore_errors: '1' };
  await expect(withProfile(profile, (analytics) => analytics.insertRecords(planned))).rejects.toMatchObject({
    code: 'analytics_unavailable',
  });
  await opened.analytics.change('DROP VIEW refusing SYNC');
});

test.each([
  ['max_rows_to_read', 'read_overflow_mode', NUMBERS],
  ['max_rows_to_read_leaf', 'read_overflow_mode_leaf', NUMBERS],
  ['max_rows_in_join', 'join_overflow_mode', JOINED],
])(
  'a query that exceeds %s of the profile fails, also if the profile asks for a part of the answer',
  async (limit, mode, query) => {
    const refused = { code: 'analytics_refused' };
    await withProfile({ [limit]: '1000', [mode]: 'break' }, async ({ select, userQuery }) => {
      await expect(select(query)).rejects.toMatchObject(refused);
      await expect(userQuery(query, {})).rejects.toMatchObject(refused);
    });
  },
);

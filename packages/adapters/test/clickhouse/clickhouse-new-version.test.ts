import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openClickhouseAnalytics } from '../../src/clickhouse/clickhouse-analytics.ts';
import { batch } from './clickhouse-harness.ts';

const EXACT = 'max_dynamic_subcolumns_in_json_type_parsing';

/** A server that knows only the settings in `known`. It collects the settings of the statements that change tables. */
async function startServer(known: Set<string>) {
  const changes: URLSearchParams[] = [];
  const answerTo = async (request: IncomingMessage): Promise<string> => {
    const params = new URL(request.url ?? '', 'http://server').searchParams;
    const sql = `${params.get('query') ?? ''}${Buffer.concat(await request.toArray())}`;
    if (sql.startsWith('INSERT')) changes.push(params);
    if (sql.includes(`'${EXACT}'`)) return `{"known":"${known.has(EXACT) ? 1 : 0}"}\n`;
    if (!sql.includes("'deduplicate_insert_select'")) return '';
    return known.has('deduplicate_insert_select') ? '{"name":"deduplicate_insert_select"}\n' : '';
  };
  const server = createServer((request, response) => void answerTo(request).then((text) => response.end(text)));
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    analytics: openClickhouseAnalytics({ url, username: 'weir', password: '', migrationsDir: '/nowhere' }),
    /** The value of a setting in the last statement that changed tables. */
    last: (setting: string) => changes.at(-1)?.get(setting),
    close: () => new Promise((resolve) => void server.close(resolve)),
  };
}

test('after an upgrade of the server, statements have the settings of its new version', async () => {
  const known = new Set<string>();
  const { analytics, last, close } = await startServer(known);
  const insert = () => analytics.insertRecords(batch(0, [{ properties: { big: 2 ** 60 } }]));
  const change = () => analytics.change('INSERT INTO records SELECT * FROM records', 'token');
  await insert();
  expect(last(EXACT)).toBeNull();
  await change();
  expect(last('deduplicate_insert_select')).toBeNull();

  known.add(EXACT).add('deduplicate_insert_select');
  await insert();
  expect(last(EXACT)).toBe('0');
  await change();
  expect(last('deduplicate_insert_select')).toBe('enable_even_for_bad_queries');
  await analytics.close();
  await close();
});

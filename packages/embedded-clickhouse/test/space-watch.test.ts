import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedClickhouse } from '../src/start-embedded-clickhouse.ts';

test('with less free space than the reserve, an insert is refused with NOT_ENOUGH_SPACE, and queries still work', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'weir-space-'));
  const clickhouse = await startEmbeddedClickhouse({
    dataDir,
    entry: join(__dirname, '../src/clickhouse-server.ts'),
    reserveBytes: Number.MAX_SAFE_INTEGER,
    logger: { info: () => undefined, warn: () => undefined },
  });
  const ask = (query: string, body = ''): Promise<Response> =>
    fetch(`${clickhouse.url}/?query=${encodeURIComponent(query)}`, {
      method: 'POST',
      headers: { 'X-ClickHouse-User': 'weir', 'X-ClickHouse-Key': clickhouse.password },
      body,
    });
  await clickhouse.ready();
  await ask('CREATE TABLE rows (a UInt8) ENGINE = MergeTree ORDER BY a');
  const refused = await ask('INSERT INTO rows FORMAT JSONEachRow', '{"a":1}');
  expect(refused.headers.get('x-clickhouse-exception-code')).toBe('243');
  expect(await refused.text()).toContain('NOT_ENOUGH_SPACE');
  expect(await (await ask('SELECT count() FROM rows')).text()).toBe('0\n');
  await clickhouse.close();
  await rm(dataDir, { recursive: true });
});

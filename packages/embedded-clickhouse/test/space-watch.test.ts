import { mkdtemp, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { watchSpace } from '../src/space-watch.ts';
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
  for (const [query, body = ''] of [
    ['INSERT INTO rows FORMAT JSONEachRow', '{"a":1}'],
    ['INSERT INTO rows SELECT 1 AS a'],
    ['/* rows of a CTE */ INSERT INTO rows WITH 1 AS a SELECT a'],
  ] as const) {
    const refused = await ask(query, body);
    expect(refused.headers.get('x-clickhouse-exception-code')).toBe('243');
    expect(await refused.text()).toContain('NOT_ENOUGH_SPACE');
  }
  expect(await (await ask('SELECT count() FROM rows')).text()).toBe('0\n');
  // Weir inserts a row into this table at the end of each migration. If this insert was refused, no migration could end while the disk is full.
  await ask('CREATE TABLE schema_migrations (name String) ENGINE = MergeTree ORDER BY name');
  expect((await ask("INSERT INTO schema_migrations SELECT 'one' AS name")).status).toBe(200);
  await clickhouse.close();
  await rm(dataDir, { recursive: true });
});

// Linux reports no free space for /proc.
const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux('if the free space changes while merges are stopped, they are started again', async () => {
  const base = await mkdtemp(join(tmpdir(), 'weir-space-'));
  const folder = join(base, 'folder');
  const useDiskOf = async (target: string): Promise<void> => {
    await symlink(target, `${folder}.new`);
    await rename(`${folder}.new`, folder);
  };
  await useDiskOf(base);
  const calls: boolean[] = [];
  let stopped = (): void => undefined;
  const watch = await watchSpace({
    folder,
    reserveBytes: 1,
    async setMerges(run) {
      calls.push(run);
      if (run) return;
      await new Promise<void>((resolve) => {
        stopped = resolve;
      });
    },
    onDoubt: () => undefined,
  });
  try {
    await useDiskOf('/proc');
    await eventually('merges are being stopped', () => calls.length === 1);
    await useDiskOf(base);
    // An insert checks the free space too. It is refused although space is free again, because parts may have been written to a full disk.
    await expect(watch.insert(async () => undefined)).rejects.toThrow('bytes are free');
    stopped();
    await eventually('merges are started', () => calls.length === 2, 20_000);
    expect(calls).toEqual([false, true]);
  } finally {
    watch.close();
    await rm(base, { recursive: true });
  }
});

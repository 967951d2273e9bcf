import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedClickhouse } from '../src/start-embedded-clickhouse.ts';

const MEMORY_BYTES = 500_000_000;

test('a statement that needs more than the memory of ClickHouse is refused, and others are answered', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'weir-memory-'));
  const clickhouse = await startEmbeddedClickhouse({
    ...{ dataDir, memoryBytes: MEMORY_BYTES, entry: join(__dirname, '../src/clickhouse-server.ts') },
    logger: { info: () => undefined, warn: () => undefined },
  });
  try {
    await clickhouse.ready();
    const pid = clickhouse.pid();
    const run = async (query: string): Promise<string> => {
      const headers = { 'X-ClickHouse-User': 'weir', 'X-ClickHouse-Key': clickhouse.password };
      return (await fetch(clickhouse.url, { method: 'POST', headers, body: query })).text();
    };
    expect(await run('SELECT length(groupArray(number)) FROM numbers(200000000)')).toMatch(
      /Code: 241.*\(total\) memory limit exceeded/s,
    );
    expect(await run('SELECT 1')).toBe('1\n');
    expect(clickhouse.pid()).toBe(pid);
  } finally {
    await clickhouse.close();
    rmSync(dataDir, { recursive: true });
  }
});

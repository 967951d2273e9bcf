import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedClickhouse, startEmbeddedClickhouse } from '../src/start-embedded-clickhouse.ts';

const MEMORY_BYTES = 300_000_000;

let dataDir: string;
let clickhouse: EmbeddedClickhouse;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'weir-memory-'));
  clickhouse = await startEmbeddedClickhouse({
    ...{ dataDir, memoryBytes: MEMORY_BYTES, entry: join(__dirname, '../src/clickhouse-server.ts') },
    logger: { info: () => undefined, warn: () => undefined },
  });
  await clickhouse.ready();
});
afterAll(async () => {
  await clickhouse.close();
  rmSync(dataDir, { recursive: true });
});

async function run(query: string, settings = ''): Promise<string> {
  const headers = { 'X-ClickHouse-User': 'weir', 'X-ClickHouse-Key': clickhouse.password };
  return (await fetch(`${clickhouse.url}/?${settings}`, { method: 'POST', headers, body: query })).text();
}

test('a statement that needs more than the memory of ClickHouse is refused, and others are answered', async () => {
  const pid = clickhouse.pid();
  expect(await run('SELECT length(groupArray(number)) FROM numbers(200000000)')).toMatch(
    /Code: 241.*\(total\) memory limit exceeded/s,
  );
  expect(await run('SELECT 1')).toBe('1\n');
  expect(clickhouse.pid()).toBe(pid);
});

test('a statement gets at most half of the memory, so that it fails alone when it is too large', async () => {
  const answer = await run('SELECT length(groupArray(number)) FROM numbers(200000000)', 'max_memory_usage=2147483648');
  expect(answer).toContain('Code: 241');
  expect(answer).not.toContain('(total)');
  const inserted = 'SELECT length(groupArray(number)) FROM numbers(1000)';
  expect(await run(inserted, 'max_memory_usage=2147483648')).toBe('1000\n');
});

test('the engine has the statement that returns freed memory', async () => {
  expect(await run('SYSTEM JEMALLOC PURGE')).toBe('');
});

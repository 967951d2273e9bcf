import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { startEmbeddedClickhouse } from '../src/start-embedded-clickhouse.ts';

let dataDir: string;
let warned: string[];
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'weir-restart-'));
  warned = [];
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const logger = {
  info: () => undefined,
  warn: (fields: object) => void warned.push((fields as { reason: string }).reason),
};

/** A child process that writes its process ID to standard error, and is ready at once. */
function writeProgram(): string {
  const entry = join(dataDir, 'server.mjs');
  writeFileSync(
    entry,
    `process.stderr.write('report of ' + process.pid);
    process.send({ type: 'listening', port: 1 });
    process.send({ type: 'ready' });
    process.on('message', () => process.exit(0));`,
  );
  return entry;
}

test('a restart that fails before the process is created is tried again', async () => {
  let failures = 0;
  const clickhouse = await startEmbeddedClickhouse({
    dataDir,
    entry: writeProgram(),
    logger,
    beforeStart() {
      if (failures-- > 0) throw new Error('EMFILE: too many open files');
    },
  });
  try {
    await clickhouse.ready();
    const first = clickhouse.pid() as number;
    failures = 2;
    process.kill(first, 'SIGKILL');
    await eventually('another child', () => clickhouse.pid() !== undefined && clickhouse.pid() !== first);
    await clickhouse.ready();
    expect(warned).toEqual(['', 'EMFILE: too many open files', 'EMFILE: too many open files']);
  } finally {
    await clickhouse.close();
  }
});

test('the messages of a process that has crashed are kept until another one has written messages', async () => {
  const clickhouse = await startEmbeddedClickhouse({ dataDir, entry: writeProgram(), logger });
  const read = (name: string) => readFileSync(join(dataDir, name), 'utf8');
  try {
    for (let restart = 0; restart < 2; restart++) {
      await clickhouse.ready();
      const crashed = clickhouse.pid() as number;
      process.kill(crashed, 'SIGKILL');
      await eventually('another child', () => ![undefined, crashed].includes(clickhouse.pid()));
      await clickhouse.ready();
      expect(read('clickhouse.stderr')).toBe(`report of ${clickhouse.pid()}`);
      expect(read('clickhouse.stderr.former')).toBe(`report of ${crashed}`);
    }
    expect(readdirSync(dataDir).filter((name) => name.startsWith('clickhouse.stderr'))).toHaveLength(2);
  } finally {
    await clickhouse.close();
  }
});

test('a start whose file for messages cannot be opened is an error with the reason', async () => {
  mkdirSync(join(dataDir, 'clickhouse.stderr'));
  await expect(startEmbeddedClickhouse({ dataDir, entry: writeProgram(), logger })).rejects.toMatchObject({
    code: 'analytics_unavailable',
    message: expect.stringMatching(/does not start: E[A-Z]+: .*clickhouse\.stderr/),
  });
});

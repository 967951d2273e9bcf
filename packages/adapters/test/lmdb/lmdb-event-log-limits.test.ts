import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { partitionOf } from '@weir/domain/records/partition-of';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import type { Subscription } from '@weir/ports/event-log';
import { eventually } from '@weir/testkit/eventually';
import { open } from 'lmdb';
import { type LmdbEventLog, openLmdbEventLog } from '../../src/lmdb/lmdb-event-log.ts';

const HOUR_MS = 3600_000;
/** A program of util-linux that changes the file size limit of a running process. A low limit simulates a full disk. */
const PRLIMIT = '/usr/bin/prlimit';

describe('the LMDB event log', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-log-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const openAt = (now: () => number, pendingBytesMax?: number) =>
    openLmdbEventLog({
      folder,
      partitions: 2,
      clock: now,
      retentionMs: (topic) => (topic === 'short' ? HOUR_MS : 1000 * HOUR_MS),
      readerOf: (topic) => (topic === 'short' ? undefined : 'reader'),
      ...(pendingBytesMax === undefined ? {} : { pendingBytesMax }),
    });
  const value = Buffer.from('x');

  // Raw records that were appended up to 25 hours before an unread one are kept too, because they can have the same idempotency key.
  test.each([
    [TOPIC_RAW, 2],
    ['long', 3],
  ])('%s: keeps records that their consumer has not read, however old they are', async (topic, kept) => {
    let now = Date.UTC(2030, 0, 1);
    let log = await openAt(() => now);
    for (const hours of [0, 26, 2, 24]) {
      now += hours * HOUR_MS;
      await log.append(topic, [{ partition: 0, value }]);
    }
    const first = async () => (await log.positions(topic, 'reader', [0]))[0]?.first;
    const reopened = async () => {
      await log.close();
      now += 2000 * HOUR_MS;
      log = await openAt(() => now);
      // Opening the log has queued its removals. This append is queued after them. So the removals are done when the append resolves.
      await log.append('other', [{ partition: 0, value }]);
    };
    await reopened();
    expect(await first()).toBe(0);
    let seen = 0;
    const subscription = await log.consume({
      ...{ topic, group: 'reader' },
      onError: (error) => {
        throw error;
      },
      open: async (handle) => ({
        async handle(records) {
          seen += records.length;
          if (seen === 4) await handle.commit({ offset: 3, metadata: '' });
        },
        close: async () => undefined,
      }),
    });
    await eventually('the commit', async () => (await log.positions(topic, 'reader', [0]))[0]?.committed === 3);
    await subscription.close();
    await reopened();
    expect(await first()).toBe(kept);
    await log.close();
  });

  test('removes records older than the retention and continues with the next offset', async () => {
    let now = Date.UTC(2030, 0, 1);
    let log = await openAt(() => now);
    await log.append('short', [
      { partition: 0, value },
      { partition: 0, value },
      { partition: 1, value },
    ]);
    await log.append('long', [{ partition: 0, value }]);
    now += HOUR_MS / 2;
    await log.append('short', [{ partition: 1, value }]);
    await log.close();
    now += HOUR_MS / 2 + 1;
    log = await openAt(() => now);
    const positions = async (topic: string) => (await log.positions(topic, 'g')).map(({ first, end }) => [first, end]);
    await eventually('old records are removed', async () => (await positions('short'))[0]?.[0] === 2);
    expect(await positions('short')).toEqual([
      [2, 2],
      [1, 2],
    ]);
    expect(await positions('long')).toEqual([
      [0, 1],
      [0, 0],
    ]);
    expect(await log.offsetsAtTime('short', 0)).toEqual([2, 1]);
    const offsets = async (partition: number) =>
      (await log.read('short', partition, 0, 1024)).map(({ offset }) => offset);
    expect([await offsets(0), await offsets(1)]).toEqual([[], [1]]);
    await log.close();
    log = await openAt(() => now);
    expect(await log.append('short', [{ partition: 0, value }])).toEqual([
      { status: 'stored', partition: 0, offset: 2 },
    ]);
    await log.close();
  });

  test.each([
    ['without a commit', undefined],
    ['with a commit before the end', 1],
  ])('a consumer %s waits for the next record if retention has removed all records', async (_name, committed) => {
    let now = Date.UTC(2030, 0, 1);
    const consume = async (log: LmdbEventLog): Promise<{ seen: number[]; subscription: Subscription }> => {
      const seen: number[] = [];
      const subscription = await log.consume({
        topic: 'short',
        group: 'g',
        onError: (error) => {
          throw error;
        },
        async open(handle) {
          return {
            async handle(records) {
              seen.push(...records.map(({ offset }) => offset));
              if (committed !== undefined) await handle.commit({ offset: committed, metadata: '' });
            },
            close: async () => undefined,
          };
        },
      });
      return { seen, subscription };
    };
    let log = await openAt(() => now);
    await log.append('short', [
      { partition: 0, value },
      { partition: 0, value },
    ]);
    if (committed !== undefined) {
      const { subscription } = await consume(log);
      const committedTo = async () => (await log.positions('short', 'g'))[0]?.committed;
      await eventually('the commit', async () => (await committedTo()) === committed);
      await subscription.close();
    }
    await log.close();
    now += HOUR_MS + 1;
    log = await openAt(() => now);
    await eventually('the partition is empty', async () => (await log.positions('short', 'g'))[0]?.first === 2);
    const { seen, subscription } = await consume(log);
    expect(await log.append('short', [{ partition: 0, value }])).toMatchObject([{ offset: 2 }]);
    await eventually('the new record', () => seen.length > 0);
    expect(seen).toEqual([2]);
    await subscription.close();
    await log.close();
  });

  test('a damaged entry is an error of its partition: the records before it and the other partitions are delivered', async () => {
    let log = await openAt(Date.now);
    const long = Buffer.from('x'.repeat(5_000));
    for (let n = 0; n < 2; n++) await log.append('t', [{ partition: 0, value: long }]);
    await log.close();
    const env = open({ path: folder, maxDbs: 8 });
    const entries = env.openDB<Buffer, (string | number)[]>({ name: 'entries', encoding: 'binary' });
    const keys = [...entries.getKeys()];
    expect(keys).toHaveLength(2);
    const damaged = keys[1]!;
    await entries.put(damaged, entries.get(damaged)!.subarray(0, 20));
    await env.close();

    log = await openAt(Date.now);
    const seen: string[] = [];
    const errors: unknown[] = [];
    const subscription = await log.consume({
      topic: 't',
      group: 'g',
      onError: (error, partition) => errors.push({ code: (error as { code?: string }).code, partition }),
      open: async ({ partition }) => ({
        async handle(records) {
          seen.push(...records.map(({ offset }) => `${partition}:${offset}`));
        },
        close: async () => undefined,
      }),
    });
    await log.append('t', [{ partition: 1, value }]);
    await eventually('the error', () => errors.length > 0);
    await eventually('the intact records', () => seen.length === 2);
    expect(seen.toSorted()).toEqual(['0:0', '1:0']);
    expect(errors[0]).toEqual({ code: 'event_log_damaged', partition: 0 });
    await subscription.close();
    await log.close();
  });

  test('refuses appends above its buffer limit and accepts them when the buffer has space again', async () => {
    const log = await openAt(Date.now, 1_000);
    const big = { partition: 0, value: Buffer.alloc(600) };
    const small = { partition: 0, value };
    const outcomes = await log.append('t', [big, big, small, { partition: 1, value }]);
    expect(outcomes.map(({ status }) => status)).toEqual(['stored', 'refused', 'refused', 'stored']);
    expect(await log.append('t', [small, big])).toMatchObject([{ offset: 1 }, { offset: 2 }]);
    await log.close();
  });

  test('an append that throws stores none of its records', async () => {
    const log = await openAt(Date.now);
    const long = { partition: 0, value, headers: { h: 'x'.repeat(70_000) } };
    await expect(log.append('t', [{ partition: 0, value }, long])).rejects.toThrow(RangeError);
    await expect(
      log.append('t', [
        { partition: 0, value },
        { partition: 9, value },
      ]),
    ).rejects.toThrow(RangeError);
    expect(await log.append('t', [{ partition: 0, value }])).toMatchObject([{ offset: 0 }]);
    await log.close();
  });

  test('a closed log refuses appends, and its ping rejects', async () => {
    const log = await openAt(Date.now);
    await log.close();
    expect(await log.append('t', [{ value }])).toMatchObject([{ status: 'refused' }]);
    await expect(log.ping()).rejects.toMatchObject({ code: 'event_log_unavailable' });
  });

  test('keeps its number of partitions and the mapping from keys to partitions', async () => {
    await (await openAt(Date.now)).close();
    const log = await openLmdbEventLog({ folder, partitions: 9, clock: Date.now, retentionMs: () => HOUR_MS });
    expect(log.partitionCount).toBe(2);
    await log.close();
    expect(['', 'a', 'visitor-1', 'ü€', 'c_0123456789abcdef'].map((key) => partitionOf(key, 16))).toEqual([
      11, 3, 11, 0, 10,
    ]);
    const counts = new Array<number>(4).fill(0);
    for (let i = 0; i < 4_000; i++) counts[partitionOf(`visitor-${i}`, 4)]! += 1;
    expect(Math.min(...counts)).toBeGreaterThan(900);
  });

  test('a copy of the log that would use the reserve of the disk is refused', async () => {
    let room = 1000;
    const disk = { shortage: () => undefined, room: async () => room };
    const log = await openLmdbEventLog({ folder, partitions: 1, clock: Date.now, retentionMs: () => HOUR_MS, disk });
    const copy = await mkdtemp(join(folder, 'copy-'));
    await expect(log.copyTo(copy)).rejects.toThrow('too little free space for a copy of the event log');
    expect(existsSync(join(copy, 'data.mdb'))).toBe(false);
    room = 1e9;
    await log.copyTo(copy);
    expect(existsSync(join(copy, 'data.mdb'))).toBe(true);
    await log.close();
  });

  const withLimits = existsSync(PRLIMIT) ? test : test.skip;
  withLimits('without disk space appends are refused and nothing is stored; with space they work again', async () => {
    const script = require.resolve('./lmdb-append-on-request.ts');
    const child = spawn(process.execPath, ['--import', 'tsx', script, folder], { stdio: ['pipe', 'pipe', 'ignore'] });
    const answers: string[] = [];
    createInterface({ input: child.stdout }).on('line', (line) => answers.push(line));
    const ask = async (bytes: number): Promise<string> => {
      const before = answers.length;
      child.stdin.write(`${bytes}\n`);
      return eventually('the child answers', () => answers[before]);
    };
    const limitFiles = (bytes: string) =>
      execFileSync(PRLIMIT, ['--pid', String(child.pid), `--fsize=${bytes}:unlimited`]);
    try {
      expect(await ask(10)).toBe('stored 0; ping ok');
      limitFiles('1000000');
      expect(await ask(3_000_000)).toMatch(/^refused /);
      expect(await ask(3_000_000)).toMatch(/^refused /);
      expect(await ask(10)).toMatch(/^stored 1; ping ok$/);
      limitFiles('unlimited');
      expect(await ask(3_000_000)).toBe('stored 2; ping ok');
      expect(await ask(10)).toBe('stored 3; ping ok');
    } finally {
      child.kill('SIGKILL');
    }
    const log = await openAt(Date.now);
    expect((await log.positions('t', 'g'))[0]).toMatchObject({ first: 0, end: 4 });
    await log.close();
  });
});

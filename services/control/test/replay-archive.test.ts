import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileObjectStore } from '@weir/adapters/object-store/file-object-store';
import { type Archiver, startArchiver } from '@weir/archiver/archiver';
import { GROUP_ARCHIVER, TOPIC_ENRICHED } from '@weir/domain/records/topics';
import { segmentName } from '@weir/runtime/archive/segment-name';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { openReplayHarness, type ReplayHarness } from './replay-harness.ts';

jest.setTimeout(600_000);

const WITHIN_MS = 150_000;
const folder = mkdtempSync(join(tmpdir(), 'weir-replay-archive-'));
const archive = openFileObjectStore(folder);
/**
 * With this short retention, all records that are in the topic when a replay (docs/glossary.md) starts count as expired. The replay does not read
 * them from the topic.
 */
const from = { archive, replayRetentionMs: 1 };

/** Starts an archiver with small segments, so that each partition has several. */
function archiverOf({ eventLog }: ReplayHarness): Promise<Archiver> {
  const limits = { segmentBytesMax: 20_000, lingerMs: 100, retentionMs: undefined, upkeepMs: 3_600_000 };
  const logger = createLogger('error');
  return startArchiver({ eventLog, store: archive, clock: Date.now, logger, metrics: createMetrics(), limits });
}

const archived = ({ eventLog }: ReplayHarness) =>
  eventually(
    'all records to be archived',
    async () => {
      const positions = await eventLog.positions(TOPIC_ENRICHED, GROUP_ARCHIVER);
      return positions.every(({ end, committed = 0 }) => committed === end);
    },
    WITHIN_MS,
  );

let weir: ReplayHarness;
let archiver: Archiver;
beforeAll(async () => {
  weir = await openReplayHarness(150, from);
  archiver = await archiverOf(weir);
  await archived(weir);
});
afterAll(async () => {
  await archiver.close();
  await weir.close();
  rmSync(folder, { recursive: true });
});
afterEach(() => weir.drop());

const count = (query: string) => weir.count(query);
const start = async (body: object = {}) => {
  const answer = await weir.call('POST', '/replays', { from: 'archive', ...body });
  expect(answer).toMatchObject({ status: 201 });
};
const segmentsOf = (partition: number): readonly string[] => {
  const path = join(folder, TOPIC_ENRICHED, weir.eventLog.logId, String(partition).padStart(4, '0'));
  return readdirSync(path)
    .toSorted()
    .map((name) => join(path, name));
};
const fullest = (): readonly string[] => [0, 1, 2, 3].map(segmentsOf).toSorted((a, b) => b.length - a.length)[0] ?? [];

test('a replay from the archive fills the shadow tables from segments, continues in the topic, and swaps', async () => {
  const plan = (await weir.call('POST', '/replays', { from: 'archive', dry_run: true })).body.data;
  expect(plan).toMatchObject({ dry_run: true, records_from_archive: 750, records_to_copy: 0, records_to_replay: 0 });
  await start();
  await weir.visits(20);
  await weir.follows();
  const { data } = (await weir.current()).body;
  expect(data.from).toBe('archive');
  expect(data.records_copied).toBe(data.records_to_copy);
  expect(await weir.digests('weir_shadow')).toEqual(await weir.digests('weir'));
  const before = await weir.digests('weir');
  await weir.call('POST', '/replays/current/swap');
  await eventually('a swap', async () => (await weir.current()).body.data.phase === 'swapped', WITHIN_MS);
  expect(await weir.digests('weir')).toEqual(before);
  await archived(weir);
});

test('a slow replay goes on where it was after its leader ended', async () => {
  await start({ records_per_second_max: 50 });
  for (const part of [100, 300, 500]) {
    const copied = async () => {
      const { data } = (await weir.current()).body;
      return data.records_copied >= part && data;
    };
    expect(await eventually(`${part} records`, copied, WITHIN_MS)).toMatchObject({ phase: 'archive' });
    await weir.restartReplayer();
  }
  await weir.follows();
  expect(await weir.digests('weir_shadow')).toEqual(await weir.digests('weir'));
});

test('rows come from the archive, and those without a segment from the tables', async () => {
  const digests = await weir.digests('weir');
  await weir.command("ALTER TABLE weir.records UPDATE city = 'copied' WHERE 1 SETTINGS mutations_sync = 1");
  const copied = () => count("SELECT count() AS n FROM weir_shadow.records WHERE city = 'copied'");
  await start();
  await weir.follows();
  expect(await copied()).toBe(0);
  expect(await weir.digests('weir_shadow')).toEqual(digests);
  await weir.drop();

  await start({ site_id: 'blog' });
  await weir.follows();
  expect(await copied()).toBe(await count("SELECT count() AS n FROM weir.records WHERE site_id != 'blog'"));
  await weir.drop();

  const segments = fullest();
  const lost = segments[1] ?? '';
  const content = readFileSync(lost);
  rmSync(lost);
  await start();
  await weir.follows();
  expect(await copied()).toBeGreaterThan(0);
  expect(await copied()).toBeLessThan(await count('SELECT count() AS n FROM weir.records'));
  const offsets = 'SELECT count() = uniqExact(raw_partition, raw_offset) AS n FROM weir_shadow.records';
  expect(await count(offsets)).toBe(1);
  expect(await count('SELECT count() AS n FROM weir_shadow.records')).toBe(
    await count('SELECT count() AS n FROM weir.records'),
  );
  writeFileSync(lost, content);
  await weir.drop();
  // Another replay and a swap restore the former content of the tables, without the city `copied`.
  await start();
  await weir.follows();
  await weir.call('POST', '/replays/current/swap');
  await eventually('a swap', async () => (await weir.current()).body.data.phase === 'swapped', WITHIN_MS);
  expect(await weir.digests('weir')).toEqual(digests);
});

test('a damaged segment stops the replay with its name, until it is replaced', async () => {
  const damaged = fullest()[1] ?? '';
  const content = readFileSync(damaged);
  writeFileSync(damaged, content.subarray(0, content.length / 2));
  await start();
  const name = damaged.slice(folder.length + 1);
  await eventually(
    'a problem',
    async () => String((await weir.current()).body.data.problem).includes(`the archive's segment ${name} `),
    WITHIN_MS,
  );
  writeFileSync(damaged, content);
  await weir.follows();
  expect(await weir.digests('weir_shadow')).toEqual(await weir.digests('weir'));
});

test('segments of a history that the log has lost are not read', async () => {
  const range = { topic: TOPIC_ENRICHED, logId: weir.eventLog.logId, partition: 1, from: 9_000, to: 9_100 };
  await archive.put(segmentName(range), Buffer.from('of a lost history'));
  try {
    expect(await weir.call('POST', '/replays', { from: 'archive' })).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining(segmentName(range)) } },
    });
  } finally {
    await archive.delete(segmentName(range));
  }
});

test('a new installation restores all tables from the archive of an old one', async () => {
  const digests = await weir.digests('weir');
  const records = await count('SELECT count() AS n FROM records');
  const restored = await openReplayHarness(0, from);
  try {
    expect(restored.eventLog.logId).not.toBe(weir.eventLog.logId);
    await restored.call('POST', '/replays', { from: 'archive' });
    await restored.follows();
    await restored.call('POST', '/replays/current/swap');
    await eventually('a swap', async () => (await restored.current()).body.data.phase === 'swapped', WITHIN_MS);
    expect(await restored.digests('weir')).toEqual(digests);
    const { data } = (await restored.call('GET', '/audit')).body;
    expect(data).toMatchObject({ balanced: true, totals: { received: records, in_flight: 0 } });

    await restored.visits(5);
    expect(await restored.count('SELECT count() AS n FROM records')).toBe(records + 25);
    await restored.call('POST', '/replays/current/undo');
    await eventually('an undo', async () => (await restored.current()).body.data.phase === 'undone', WITHIN_MS);
    expect(await restored.count('SELECT count() AS n FROM records')).toBe(25);
    await restored.drop();

    const first = fullest()[0] ?? '';
    const content = readFileSync(first);
    rmSync(first);
    const refused = await restored.call('POST', '/replays', { from: 'archive' });
    expect(refused).toMatchObject({
      status: 409,
      body: { error: { message: expect.stringContaining(weir.eventLog.logId) } },
    });
    writeFileSync(first, content);
  } finally {
    await restored.close();
  }
});

test('an erased person stays erased in a replay from the archive', async () => {
  const { body } = await weir.call('POST', '/sites/shop/erasures', { visitors: ['visitor-1'] });
  const erasureId = body.data.erasure_id;
  await eventually(
    'an erasure',
    async () => (await weir.call('GET', `/erasures/${erasureId}`)).body.data.phase === 'done',
    WITHIN_MS,
  );
  await start();
  await weir.follows();
  expect(
    await count("SELECT count() AS n FROM weir_shadow.records WHERE visitor_id = 'visitor-1' AND site_id = 'shop'"),
  ).toBe(0);
  expect(await weir.digests('weir_shadow')).toEqual(await weir.digests('weir'));
});

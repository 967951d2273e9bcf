import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileObjectStore } from '@weir/adapters/object-store/file-object-store';
import { keepArchive } from '@weir/archiver/archive-upkeep';
import { type Archiver, startArchiver } from '@weir/archiver/archiver';
import { DependencyError } from '@weir/domain/errors';
import { TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import type { ObjectStore } from '@weir/ports/object-store';
import { summariseArchive } from '@weir/runtime/archive/archive-manifest';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { archivedRecords } from '../../../archiver/test/archived-records.ts';
import { openReplayHarness, type ReplayHarness } from '../replay-harness.ts';

jest.setTimeout(600_000);

const WITHIN_MS = 150_000;
const folder = mkdtempSync(join(tmpdir(), 'weir-erase-archive-'));
const files = openFileObjectStore(folder);
const logger = createLogger('silent');
/** How many of the next calls of `replace` fail. */
let failures = 0;
let segmentsRead: string[] = [];
const archive: ObjectStore = {
  ...files,
  async replace(name, version, body) {
    if (failures > 0) {
      failures--;
      throw new DependencyError('object_store_unavailable', 'of the test');
    }
    return files.replace(name, version, body);
  },
  async get(name) {
    segmentsRead.push(name);
    return files.get(name);
  },
};

let weir: ReplayHarness;
let archiver: Archiver;
beforeAll(async () => {
  weir = await openReplayHarness(120, { archive, replayRetentionMs: 1 });
  const limits = { segmentBytesMax: 20_000, lingerMs: 100, retentionMs: undefined, upkeepMs: 3_600_000 };
  const store = files;
  archiver = await startArchiver({
    eventLog: weir.eventLog,
    store,
    clock: Date.now,
    logger,
    metrics: createMetrics(),
    limits,
  });
});
afterAll(async () => {
  await archiver.close();
  await weir.close();
  rmSync(folder, { recursive: true });
});

async function forget(site: string, body: object) {
  const begun = await weir.call('POST', `/sites/${site}/erasures`, body);
  expect(begun.status).toBe(202);
  return eventually(
    'the erasure to be done',
    async () => {
      const { data } = (await weir.call('GET', `/erasures/${begun.body.data.erasure_id}`)).body;
      if (data.phase !== 'done') throw new Error(`${data.phase}: ${data.problem}`);
      return data;
    },
    WITHIN_MS,
  );
}

const linesOf = async (topic: string): Promise<readonly string[]> =>
  (await archivedRecords(files, topic)).map(({ value }) => Buffer.from(value).toString());
const offsetsOf = async () =>
  (await summariseArchive(files)).map(({ topic, partition, ranges }) => [topic, partition, ranges]);

test('an erased person is in no segment, others are; segments keep their ranges', async () => {
  const naming = async (topic: string, site: string, id: string) =>
    (await linesOf(topic)).filter((line) => line.includes(`"${site}"`) && line.includes(id)).length;
  await eventually('records to be archived', async () => (await naming(TOPIC_RAW, 'shop', 'user-2')) > 0, WITHIN_MS);
  failures = 2;
  const receipt = await forget('shop', { visitors: ['visitor-1'], users: ['user-2'] });
  expect(receipt.archive.records[TOPIC_ENRICHED]).toBeGreaterThan(0);
  expect(receipt.archive.records[TOPIC_RAW]).toBeGreaterThan(0);
  expect(receipt.remains.map(({ where }: { where: string }) => where).join()).not.toContain('archive');
  for (const topic of [TOPIC_RAW, TOPIC_ENRICHED]) {
    expect([await naming(topic, 'shop', 'visitor-1"'), await naming(topic, 'shop', 'user-2"')]).toEqual([0, 0]);
    expect(await naming(topic, 'blog', 'user-2"')).toBeGreaterThan(0);
    expect(await naming(topic, 'shop', 'user-3"')).toBeGreaterThan(0);
    expect(await linesOf(topic)).toHaveLength(600);
  }
  const erased = (await linesOf(TOPIC_ENRICHED)).filter((line) => line.startsWith('["erased"')).length;
  expect(erased).toBe(await weir.count("SELECT count() AS n FROM records WHERE outcome = 'erased'"));
  expect((await linesOf(TOPIC_RAW)).filter((line) => line === '').length).toBeGreaterThanOrEqual(erased);
});

test('a replay from the rewritten segments has the rows of the tables', async () => {
  await weir.call('POST', '/replays', { from: 'archive' });
  await weir.follows();
  expect(await weir.digests('weir_shadow')).toEqual(await weir.digests('weir'));
  await weir.drop();
});

test('many persons are erased in one pass over the archive; a whole site too', async () => {
  const before = await offsetsOf();
  segmentsRead = [];
  const persons = Array.from({ length: 5_000 }, (_, nth) => `unknown-${nth}`);
  await forget('shop', { visitors: [...persons, 'visitor-4'], users: [] });
  const times = new Map<string, number>();
  for (const name of segmentsRead) times.set(name, (times.get(name) ?? 0) + 1);
  // A segment is read once to search it, and a second time if it is rewritten.
  expect(Math.max(...times.values())).toBe(2);

  await forget('shop', { all: true });
  for (const topic of [TOPIC_RAW, TOPIC_ENRICHED]) {
    const lines = (await linesOf(topic)).filter((line) => line.includes('"shop"') && !line.startsWith('["erased"'));
    expect(lines).toEqual([]);
  }
  expect(await offsetsOf()).toEqual(before);
});

test('the retention of a rewritten segment counts from the day when it was first stored', async () => {
  const stored = Date.now();
  const limits = { retentionMs: 86_400_000, upkeepMs: 1 };
  await keepArchive({ store: files, clock: () => stored + 12 * 3_600_000, logger, limits });
  expect((await summariseArchive(files)).length).toBeGreaterThan(0);
  // Each rewritten segment has a marker `rewritten/<day>/<name>` with the day when it was first stored. `later` is one retention (a day) after the
  // end of this day.
  const later = new Date(stored).setUTCHours(48, 0, 0, 0);
  const marked: string[] = [];
  for await (const { name } of files.list('rewritten/')) marked.push(name.slice('rewritten/2026-01-01/'.length));
  expect(marked.length).toBeGreaterThan(0);
  await keepArchive({ store: files, clock: () => later, logger, limits: { ...limits, retentionMs: 86_400_000 } });
  const left: string[] = [];
  for await (const { name } of files.list('')) left.push(name);
  expect(left.filter((name) => name.startsWith('rewritten/') || marked.includes(name))).toEqual([]);
});

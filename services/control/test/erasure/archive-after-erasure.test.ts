import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFileObjectStore } from '@weir/adapters/object-store/file-object-store';
import { type Archiver, startArchiver } from '@weir/archiver/archiver';
import { GROUP_ARCHIVER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { archivedRecords } from '../../../archiver/test/archived-records.ts';
import { openReplayHarness, type ReplayHarness } from '../replay-harness.ts';

jest.setTimeout(600_000);

const WITHIN_MS = 150_000;
const folder = mkdtempSync(join(tmpdir(), 'weir-archive-after-erasure-'));
const store = openFileObjectStore(folder);
let weir: ReplayHarness;
let archiver: Archiver | undefined;
beforeAll(async () => {
  weir = await openReplayHarness(60);
});
afterAll(async () => {
  await archiver?.close();
  await weir.close();
  rmSync(folder, { recursive: true });
});

const erasure = async (id: string) => (await weir.call('GET', `/erasures/${id}`)).body.data;

async function forget(site: string, body: object): Promise<string> {
  const { data } = (await weir.call('POST', `/sites/${site}/erasures`, body)).body;
  await eventually('the erasure is done', async () => (await erasure(data.erasure_id)).phase === 'done', WITHIN_MS);
  return data.erasure_id;
}

/** The number of archived records of a site that contain this text. */
async function naming(topic: string, site: string, text: string): Promise<number> {
  const lines = (await archivedRecords(store, topic)).map(({ value }) => Buffer.from(value).toString());
  return lines.filter((line) => line.includes(`"${site}"`) && line.includes(text)).length;
}

test('an archive that begins after erasures does not keep the erased persons', async () => {
  const first = await forget('shop', { users: ['user-2'] });
  const ids = [first, await forget('shop', { visitors: ['visitor-1'] }), await forget('blog', { users: ['user-3'] })];
  const { finished_at: finishedAt } = await erasure(first);
  const { eventLog } = weir;
  const limits = { segmentBytesMax: 20_000, lingerMs: 100, retentionMs: undefined, upkeepMs: 3_600_000 };
  const [logger, metrics] = [createLogger('silent'), createMetrics()];
  archiver = await startArchiver({ eventLog, store, clock: Date.now, logger, metrics, limits });
  for (const topic of [TOPIC_RAW, TOPIC_ENRICHED]) {
    await eventually(
      `${topic} is archived`,
      async () => (await eventLog.positions(topic, GROUP_ARCHIVER)).every(({ end, committed }) => committed === end),
      WITHIN_MS,
    );
  }
  // The topics still have the raw records of the erased persons, so the archive has them too.
  expect(await naming(TOPIC_RAW, 'shop', 'user-2"')).toBeGreaterThan(0);

  await weir.restartErasures(store);
  for (const id of ids) {
    await eventually(
      'the archive is erased',
      async () => {
        const { phase, archive } = await erasure(id);
        return phase === 'done' && archive !== null;
      },
      WITHIN_MS,
    );
  }
  for (const topic of [TOPIC_RAW, TOPIC_ENRICHED]) {
    expect(await naming(topic, 'shop', 'user-2"')).toBe(0);
    expect(await naming(topic, 'shop', 'visitor-1"')).toBe(0);
    expect(await naming(topic, 'blog', 'user-3"')).toBe(0);
    expect(await naming(topic, 'shop', 'user-4"')).toBeGreaterThan(0);
    expect(await naming(topic, 'blog', 'user-2"')).toBeGreaterThan(0);
  }
  const { archive, remains, finished_at } = await erasure(first);
  expect(archive.records[TOPIC_RAW]).toBeGreaterThan(0);
  expect(remains.map(({ kind }: { kind: string }) => kind)).not.toContain('archive');
  expect(finished_at).toBe(finishedAt);
});

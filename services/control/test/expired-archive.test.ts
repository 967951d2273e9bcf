import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openObjectStore } from '@weir/adapters/object-store/open-object-store';
import { keepArchive } from '@weir/archiver/archive-upkeep';
import { startArchiver } from '@weir/archiver/archiver';
import { GROUP_ARCHIVER, TOPIC_ENRICHED } from '@weir/domain/records/topics';
import type { ObjectStore } from '@weir/ports/object-store';
import { listExpiredStarts } from '@weir/runtime/archive/expired-start';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { describeLive } from '@weir/testkit/live-ports';
import { openReplayHarness, type ReplayHarness } from './replay-harness.ts';

jest.setTimeout(1_200_000);

const WITHIN_MS = 150_000;
const logger = createLogger('error');
const S3 = { region: 'us-east-1', pathStyle: true };

const swapped = (weir: ReplayHarness) =>
  eventually('a swap', async () => (await weir.current()).body.data.phase === 'swapped', WITHIN_MS);

/** Counts and checksums of the rows of a log, without the rows of expired records (raw offsets below `rawNext`). */
const remaining = (weir: ReplayHarness, logId: string) =>
  weir.analytics.select(
    `SELECT outcome, raw_partition, count() AS n, min(raw_offset) AS first,
       sum(cityHash64(site_id, event_id, visitor_id, session_id, user_id, toString(properties), raw_offset)) AS content
     FROM records WHERE log_id = {log:String} AND reason != 'archive' AND (raw_partition, raw_offset) >= (raw_partition, {from:Array(UInt64)}[raw_partition + 1])
     GROUP BY ALL ORDER BY ALL`,
    { log: logId, from: rawNext },
  );
let rawNext: readonly number[] = [];

/** Archives two parts of records, lets the first part expire, and restores the rest into a new installation. */
async function restoresTheRest(archive: ObjectStore): Promise<void> {
  const from = { archive, replayRetentionMs: 1 };
  const old = await openReplayHarness(0, from);
  const limits = { segmentBytesMax: 30_000, lingerMs: 100, retentionMs: undefined, upkeepMs: 3_600_000 };
  const metrics = createMetrics();
  const archiver = await startArchiver({
    ...{ eventLog: old.eventLog, store: archive, clock: Date.now, logger, metrics, limits },
  });
  const part = async (visits: number): Promise<void> => {
    await old.visits(visits);
    await eventually(
      'all records to be archived',
      async () =>
        (await old.eventLog.positions(TOPIC_ENRICHED, GROUP_ARCHIVER)).every(
          ({ end, committed = 0 }) => committed === end,
        ),
      WITHIN_MS,
    );
  };
  const expire = (before: number) =>
    keepArchive({ store: archive, clock: () => before + 1_000, logger, limits: { retentionMs: 1_000, upkeepMs: 1 } });
  try {
    await part(24);
    // S3 stores times in whole seconds. So the second part is stored at least one second after the first one.
    const between = Math.ceil(Date.now() / 1_000) * 1_000 + 1_000;
    await eventually('a later second', () => Date.now() > between);
    await part(24);
    await expire(between);
    const starts = (await listExpiredStarts(archive, `${TOPIC_ENRICHED}/`)).filter(
      ({ logId }) => logId === old.eventLog.logId,
    );
    rawNext = [0, 1, 2, 3].map((partition) => starts.find((start) => start.partition === partition)?.rawNext ?? 0);
    const gone = rawNext.reduce((sum, next) => sum + next, 0);
    expect(gone).toBe(120);
    const expected = await remaining(old, old.eventLog.logId);

    const restored = await openReplayHarness(0, from);
    try {
      const plan = (await restored.call('POST', '/replays', { from: 'archive', dry_run: true })).body.data;
      expect(plan).toMatchObject({
        records_from_archive: 120,
        note: expect.stringContaining('120 records have expired'),
      });
      expect(await restored.call('POST', '/replays', { from: 'archive' })).toMatchObject({ status: 201 });
      await restored.follows();
      await restored.call('POST', '/replays/current/swap');
      await swapped(restored);
      expect(await remaining(restored, old.eventLog.logId)).toEqual(expected);
      const audit = async () => (await restored.call('GET', '/audit')).body.data;
      const balanced = {
        balanced: true,
        totals: { received: 240, expired: 120, expired_in_archive: 120, in_flight: 0 },
      };
      expect(await audit()).toMatchObject(balanced);
      const books = "SELECT sum(records) AS n FROM books WHERE outcome = 'expired'";
      expect(await restored.count(books)).toBe(120);
      await restored.drop();

      // Lets the rest of the archive expire. The tables then have rows that the archive does not have any more.
      const digests = await restored.digests('weir');
      await expire(Date.now() + 5_000);
      await restored.call('POST', '/replays', { from: 'archive' });
      await restored.follows();
      expect(await restored.digests('weir_shadow')).toEqual(digests);
      await restored.call('POST', '/replays/current/swap');
      await swapped(restored);
      expect(await audit()).toMatchObject(balanced);
    } finally {
      await restored.close();
    }
  } finally {
    await archiver.close();
    await old.close();
  }
}

test('a folder whose beginning has expired: the rest is restored, and the audit counts what is missing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-expired-archive-'));
  try {
    await restoresTheRest(
      await openObjectStore({ url: pathToFileURL(folder).href, s3: { ...S3, endpoint: undefined } }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describeLive('s3', (endpoint) => {
  test('a bucket whose beginning has expired: the rest is restored, and the audit counts what is missing', async () => {
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' });
    const bucket = `weir-${randomUUID()}`;
    expect((await fetch(`${endpoint()}/${bucket}`, { method: 'PUT' })).ok).toBe(true);
    await restoresTheRest(
      await openObjectStore({ url: `s3://${bucket}/archive`, s3: { ...S3, endpoint: endpoint() } }),
    );
  });
});

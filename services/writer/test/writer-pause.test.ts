import { DependencyError } from '@weir/domain/errors';
import { GROUP_WRITER, TOPIC_ENRICHED } from '@weir/domain/records/topics';
import type { RecordsBatch } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import { eventually } from '@weir/testkit/eventually';
import { createFaultyAnalytics } from '@weir/testkit/faulty-analytics';
import { nextSwap, pauseWriters, resumeWriters } from '../src/pause/pause-writers.ts';
import type { WritersPauses } from '../src/pause/writers-pause.ts';
import { decodeProgress } from '../src/plan.ts';
import type { Writer } from '../src/writer.ts';
import { usePauses } from './pause-harness.ts';
import { range, rows } from './writer-harness.ts';

const opened = usePauses();
const { deps, start } = opened;

async function committed() {
  const [position] = await opened.harness.eventLog.positions(TOPIC_ENRICHED, GROUP_WRITER);
  return { offset: position?.committed, progress: decodeProgress(position?.metadata ?? '') };
}

/** Pauses the writers and exchanges the tables, as a swap does. Does not resume the writers. Resolves with the number of the swap. */
async function pauseAndSwap(): Promise<number> {
  const swap = await nextSwap(deps());
  expect(await pauseWriters(deps(), swap)).toMatchObject({ status: 'paused' });
  await opened.engine.swap(opened.harness.eventLog.logId);
  return swap;
}

test('a paused partition has a committed position; new rows are stored once, after the swap', async () => {
  await opened.harness.put(range(0, 25));
  const writer = await start();
  await opened.harness.caughtUp();
  const swap = await nextSwap(deps());
  expect(await pauseWriters(deps(), swap)).toEqual({
    status: 'paused',
    positions: [{ partition: 0, offset: 25, nextRawOffset: 25 }],
  });
  await opened.harness.put(range(25, 60));
  // The alarm is raised some time after the pause has begun. Until then, the writer must not insert the new records.
  expect(await eventually('the alarm', () => writer.status()[0]?.alarm)).toContain(`paused for swap ${swap}`);
  expect(await opened.harness.stored()).toEqual(rows(25));
  await opened.engine.swap(opened.harness.eventLog.logId);
  await resumeWriters(deps(), swap);
  await opened.harness.caughtUp();
  expect(await opened.harness.stored()).toEqual(rows(60));
  expect(writer.status()[0]?.alarm).toBeUndefined();
  await writer.close();
});

test('a pause in the middle of a stream of records ends between two batches', async () => {
  const writer = await start();
  await opened.harness.put(range(0, 500));
  await eventually('some are stored', async () => (await opened.harness.stored()).length > 20);
  const swap = await nextSwap(deps());
  const paused = await pauseWriters(deps(), swap);
  if (paused.status !== 'paused') throw new Error('the writer did not pause');
  const [position] = paused.positions;
  expect(await opened.harness.stored()).toEqual(rows(position?.nextRawOffset as number));
  expect(position?.offset).toBe(position?.nextRawOffset);
  await opened.engine.swap(opened.harness.eventLog.logId);
  await resumeWriters(deps(), swap);
  await opened.harness.caughtUp();
  expect(await opened.harness.stored()).toEqual(rows(500));
  await writer.close();
});

test('several swaps, with and without new records between them', async () => {
  const writer = await start();
  await opened.harness.put(range(0, 5));
  await opened.harness.caughtUp();
  for (let i = 0; i < 3; i++) {
    const swap = await nextSwap(deps());
    expect(await pauseWriters(deps(), swap)).toMatchObject({ status: 'paused' });
    await resumeWriters(deps(), swap);
    if (i > 0) await opened.harness.put(range(i * 5, i * 5 + 5));
    await opened.harness.caughtUp();
  }
  expect(await opened.harness.stored()).toEqual(rows(15));
  await writer.close();
});

describe('a takeover during the pause', () => {
  /** The registry of a process that has not read the request for the pause yet. */
  const unaware = (): WritersPauses => ({ ...opened.registry, writersPause: () => undefined });

  test('the commit alone keeps a new owner paused, even if its registry does not have the request', async () => {
    await opened.harness.put(range(0, 12));
    const first = await start();
    await opened.harness.caughtUp();
    const swap = await nextSwap(deps());
    await pauseWriters(deps(), swap);
    await first.close();
    await opened.harness.put(range(12, 30));
    let pauses = unaware();
    const listening: (() => void)[] = [];
    const second = await start({
      pauses: {
        writersPause: () => pauses.writersPause(),
        onWritersPause(listener) {
          listening.push(listener);
          return opened.registry.onWritersPause(listener);
        },
      },
    });
    await eventually('it is paused', () => second.status()[0]?.alarm?.includes(`swap ${swap}`));
    expect(await committed()).toEqual({ offset: 12, progress: { next: 12, paused: swap } });
    await opened.engine.swap(opened.harness.eventLog.logId);
    pauses = opened.registry;
    await resumeWriters(deps(), swap);
    await opened.harness.caughtUp();
    expect(await opened.harness.stored()).toEqual(rows(30));
    await second.close();
  });

  test('an owner that takes over a plan first repeats it, and then pauses', async () => {
    await opened.harness.put(range(0, 10));
    const lost = createFaultyAnalytics(opened.engine.analytics, (name) => {
      if (name === 'insertRecords:done') throw new DependencyError('analytics_unavailable', 'test');
    });
    const first = await start({ analytics: lost });
    await eventually('inserted, but not known', async () => (await opened.harness.stored()).length === 10);
    await first.close();
    const swap = await nextSwap(deps());
    const pausing = pauseWriters(deps(), swap);
    const second = await start();
    expect(await pausing).toMatchObject({ status: 'paused', positions: [{ offset: 10, nextRawOffset: 10 }] });
    await opened.engine.swap(opened.harness.eventLog.logId);
    await resumeWriters(deps(), swap);
    await opened.harness.put(range(10, 20));
    await opened.harness.caughtUp();
    expect(await opened.harness.stored()).toEqual(rows(20));
    await second.close();
  });

  test('a revoked partition keeps the pause in its commit', async () => {
    await opened.harness.put(range(0, 5));
    const first = await start();
    await opened.harness.caughtUp();
    const swap = await nextSwap(deps());
    await pauseWriters(deps(), swap);
    await opened.harness.put(range(0, 5));
    await opened.harness.put(range(5, 8));
    await first.close();
    expect((await committed()).progress).toEqual({ next: 5, paused: swap });
    await resumeWriters(deps(), swap);
    const second = await start();
    await opened.harness.caughtUp();
    expect(await opened.harness.stored()).toEqual(rows(8));
    await second.close();
  });
});

test('a zombie that sends its insert after the swap: ClickHouse refuses it, and every row is stored once', async () => {
  await opened.harness.put(range(0, 10));
  let held: RecordsBatch | undefined;
  const first = await start({
    analytics: {
      ...opened.engine.analytics,
      async insertRecords(batch) {
        held ??= batch;
        throw new DependencyError('analytics_unavailable', 'test');
      },
    },
  });
  await eventually('it has planned', () => held !== undefined);
  await first.close();
  const second = await start();
  await opened.harness.caughtUp();
  const swap = await pauseAndSwap();
  await expect(opened.engine.analytics.insertRecords(held as RecordsBatch)).rejects.toMatchObject({
    code: 'generation_changed',
  });
  await resumeWriters(deps(), swap);
  await opened.harness.put(range(10, 15));
  await opened.harness.caughtUp();
  await expect(opened.engine.analytics.insertRecords(held as RecordsBatch)).rejects.toMatchObject({
    code: 'generation_changed',
  });
  expect(await opened.harness.stored()).toEqual(rows(15));
  await second.close();
});

test('if the acknowledgement of the pause is lost, the pause is committed again, and nothing is stored twice', async () => {
  await opened.harness.put(range(0, 10));
  let lost = 0;
  const eventLog = withCommits(opened.harness.eventLog, async (metadata, commit) => {
    await commit();
    if (metadata.includes('"p":') && lost++ < 3) throw new DependencyError('event_log_unavailable', 'test');
  });
  const writer = await start({ eventLog });
  await opened.harness.caughtUp();
  const swap = await pauseAndSwap();
  await resumeWriters(deps(), swap);
  await opened.harness.put(range(10, 20));
  await opened.harness.caughtUp();
  expect(lost).toBeGreaterThan(0);
  expect(await opened.harness.stored()).toEqual(rows(20));
  await writer.close();
});

/** Wraps the event log. Each commit calls `around`, with the metadata and a function that makes the commit. */
function withCommits(
  eventLog: EventLog,
  around: (metadata: string, commit: () => Promise<void>) => Promise<void>,
): EventLog {
  return {
    ...eventLog,
    consume: (options) =>
      eventLog.consume({
        ...options,
        open: (handle) =>
          options.open({
            ...handle,
            commit: (commit) => around(commit.metadata, () => handle.commit(commit)),
          }),
      }),
  };
}

describe('the limits of a pause', () => {
  test('if writers do not pause in time, the pause is over, and the result has the late partitions', async () => {
    const swap = await nextSwap(deps());
    expect(await pauseWriters(deps(), swap, { limitMs: 100 })).toEqual({ status: 'late', partitions: [0] });
    expect(opened.registry.writersPause()).toMatchObject({ swap, over: true });
    await expect(pauseWriters(deps(), swap)).rejects.toThrow(RangeError);
    await opened.harness.put(range(0, 5));
    const writer = await start();
    await opened.harness.caughtUp();
    expect(await opened.harness.stored()).toEqual(rows(5));
    await writer.close();
  });

  test('if a request is lost with its registry, the next number is higher, and resuming ends the pause', async () => {
    await opened.harness.put(range(0, 5));
    const writer = await start();
    await opened.harness.caughtUp();
    await opened.registry.putWritersPause({ swap: 7, over: false, requestedAt: Date.now() });
    await eventually('paused', async () => (await committed()).progress?.paused === 7);
    await opened.registry.putWritersPause({ swap: 1, over: true, requestedAt: Date.now() });
    expect(await nextSwap(deps())).toBe(8);
    await resumeWriters(deps(), 7);
    expect(opened.registry.writersPause()).toMatchObject({ swap: 7, over: true });
    await opened.harness.put(range(5, 9));
    await opened.harness.caughtUp();
    expect(await opened.harness.stored()).toEqual(rows(9));
    await writer.close();
  });

  test('an interrupted pause is continued with the same number', async () => {
    const swap = await nextSwap(deps());
    const stop = new AbortController();
    const first = pauseWriters(deps(), swap, { signal: stop.signal });
    await eventually('requested', () => opened.registry.writersPause()?.swap === swap);
    stop.abort();
    await expect(first).rejects.toThrow();
    const writer: Writer = await start();
    expect(await pauseWriters(deps(), swap)).toEqual({
      status: 'paused',
      positions: [{ partition: 0, offset: 0, nextRawOffset: 0 }],
    });
    await resumeWriters(deps(), swap);
    await writer.close();
  });
});

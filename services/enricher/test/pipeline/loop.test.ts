import { isDeepStrictEqual } from 'node:util';
import { DependencyError } from '@weir/domain/errors';
import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/records/topics';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { eventually } from '@weir/testkit/eventually';
import { type AppendFault, createFaultyEventLog } from '@weir/testkit/faulty-event-log';
import { createFaultyStateStore } from '@weir/testkit/faulty-state-store';
import {
  expected,
  type Harness,
  openHarness,
  PARTITIONS,
  someRecords,
  taken,
  whateverStateThereIs,
} from './loop-harness.ts';

let harness: Harness;
beforeEach(async () => {
  harness = await openHarness();
});
afterEach(async () => {
  await harness.close();
});

describe('each raw record leaves exactly one outcome in the enriched partition of the same number', () => {
  test('records are processed in order, with state and duplicates', async () => {
    const records = [someRecords(100, 0), someRecords(60, 1)];
    for (let p = 0; p < PARTITIONS; p++) await harness.put(p, records[p] ?? []);
    const enricher = await harness.start();
    await harness.caughtUp();
    // The commit can be visible before the enricher has received its result.
    await eventually('its own status says so', () => {
      const offsets = enricher.status().map(({ partition, nextOffset }) => [partition, nextOffset]);
      return isDeepStrictEqual(offsets, [
        [0, 100],
        [1, 60],
      ]);
    });
    await enricher.close();
    for (let p = 0; p < PARTITIONS; p++) expect(await harness.enriched(p)).toEqual(expected(records[p] ?? []));
  });

  test('after a restart, the enricher continues at the commit', async () => {
    const records = someRecords(50);
    await harness.put(0, records.slice(0, 20));
    const first = await harness.start();
    await harness.caughtUp();
    await first.close();
    await harness.put(0, records.slice(20));
    const second = await harness.start();
    await harness.caughtUp();
    await second.close();
    expect(await harness.enriched(0)).toEqual(expected(records));
  });
});

test('an enricher without a commit begins with the oldest record that the log has', async () => {
  const records = someRecords(10);
  for (const record of records) await harness.put(0, [record]);
  await harness.eventLog.removeBefore(TOPIC_RAW, [5, 0]);
  const enricher = await harness.start();
  await harness.caughtUp();
  await enricher.close();
  expect((await harness.enriched(0)).map(({ raw }) => raw)).toEqual([5, 6, 7, 8, 9]);
});

describe('after an append with an unknown result, nothing else is appended until a retry is acknowledged', () => {
  test.each<AppendFault>(['refused', 'stored-unknown', 'lost-unknown', 'half'])('%s', async (fault) => {
    let faults = 3;
    const eventLog = createFaultyEventLog(
      harness.eventLog,
      () => {},
      () => (faults-- > 0 ? fault : 'none'),
    );
    const records = someRecords(40);
    await harness.put(0, records);
    const enricher = await harness.start({ eventLog });
    await harness.caughtUp();
    await enricher.close();
    const seen = await harness.enriched(0);
    expect(taken(seen)).toEqual(expected(records));
    if (fault !== 'stored-unknown') expect(seen).toHaveLength(records.length);
  });
});

describe('a state that is behind the committed offset is rebuilt without appending outcomes again', () => {
  test('after a wipe between two runs', async () => {
    const records = someRecords(60);
    await harness.put(0, records.slice(0, 30));
    const first = await harness.start();
    await harness.caughtUp();
    await first.close();
    await harness.wipeState();
    await harness.put(0, records.slice(30));
    const second = await harness.start();
    await harness.caughtUp();
    await second.close();
    expect(await harness.enriched(0)).toEqual(expected(records));
  });

  test('after a wipe while the enricher runs', async () => {
    const records = someRecords(90);
    await harness.put(0, records.slice(0, 30));
    const enricher = await harness.start({ stateStore: whateverStateThereIs(harness) });
    await harness.caughtUp();
    await harness.wipeState();
    await harness.put(0, records.slice(30));
    await harness.caughtUp();
    await enricher.close();
    expect(await harness.enriched(0)).toEqual(expected(records));
  });

  test.each(['insertFirstSeen', 'writeState'] as const)(
    'after a loss between reading the state and %s',
    async (call) => {
      const records = someRecords(90);
      await harness.put(0, records.slice(0, 30));
      let armed = false;
      const stateStore = whateverStateThereIs(harness, async (name) => {
        if (!armed || name !== call) return;
        armed = false;
        await harness.wipeState();
      });
      const enricher = await harness.start({ stateStore });
      await harness.caughtUp();
      armed = true;
      await harness.put(0, records.slice(30));
      await harness.caughtUp();
      expect(armed).toBe(false);
      await enricher.close();
      expect(await harness.enriched(0)).toEqual(expected(records));
    },
  );

  test('the rebuild goes back at most 24 h', async () => {
    const records = someRecords(30);
    await harness.put(0, records.slice(0, 10));
    const first = await harness.start();
    await harness.caughtUp();
    harness.time.now += 23 * 3600_000;
    await harness.put(0, records.slice(10, 20));
    await harness.caughtUp();
    await first.close();
    await harness.wipeState();
    harness.time.now += 2 * 3600_000;
    await harness.put(0, records.slice(20));
    const second = await harness.start();
    await harness.caughtUp();
    await second.close();
    const seen = await harness.enriched(0);
    expect(seen.slice(0, 20)).toEqual(expected(records).slice(0, 20));
    expect(seen.map(({ raw }) => raw)).toEqual(records.map((_, raw) => raw));
    // The first ten records are too old: they are not applied to the lost state again. The next ten are applied again, but keep their outcomes, which
    // depend on the first ten.
    const known = records.filter((_, raw) => raw >= 20 || (raw >= 10 && seen[raw]?.outcome === 'row'));
    expect(seen.slice(20).map(({ value }) => value)).toEqual(
      expected(known)
        .slice(-10)
        .map(({ value }) => value),
    );
  });
});

test('with a new log beside an old state store, equal offsets belong to different records', async () => {
  const keyed = someRecords(12).map((record) => ({ ...record, key: 'one key' }));
  await harness.put(0, keyed);
  const first = await harness.start();
  await harness.caughtUp();
  await first.close();
  const { stateStore } = harness;
  const other = await openHarness();
  try {
    await other.put(0, keyed);
    const second = await other.start({ stateStore });
    await other.caughtUp();
    await second.close();
    expect((await other.enriched(0)).map(({ outcome }) => outcome)).toEqual(keyed.map(() => 'duplicate'));
  } finally {
    await other.close();
  }
});

test('the enricher waits while the state store is unavailable, and then continues', async () => {
  let away = true;
  const stateStore = createFaultyStateStore(harness.stateStore, () => {
    if (away) throw new DependencyError('state_store_unavailable', 'test');
  });
  const records = someRecords(20);
  await harness.put(0, records);
  const enricher = await harness.start({ stateStore });
  await eventually('the failure shows', () => enricher.status()[0]?.lastError?.includes('state_store_unavailable'));
  expect(await harness.enriched(0)).toEqual([]);
  away = false;
  await harness.caughtUp();
  await eventually('the failure is over', () => enricher.status()[0]?.lastError === undefined);
  await enricher.close();
  expect(await harness.enriched(0)).toEqual(expected(records));
});

test('a batch that waits for disk space has a delay: otherwise the alert WeirBehind would end', async () => {
  const metrics = createMetrics();
  let shortage: string | undefined = 'the disk is full';
  await harness.put(0, someRecords(20));
  harness.time.now += 400_000;
  const enricher = await harness.start({ metrics, disk: { shortage: () => shortage } });
  await eventually('the partition waits', () => enricher.status()[0]?.alarm);
  const delays = await metrics.getSingleMetric('weir_consume_delay_seconds')?.get();
  expect(delays?.values.map(({ value }) => value)).toEqual([400]);
  shortage = undefined;
  await harness.caughtUp();
  await enricher.close();
});

test('outcomes are appended once if the state store fails after the append', async () => {
  let failures = 3;
  const stateStore = createFaultyStateStore(harness.stateStore, (name) => {
    if (name === 'writeState' && failures-- > 0) throw new DependencyError('state_store_unavailable', 'test');
  });
  const records = someRecords(20);
  await harness.put(0, records);
  const enricher = await harness.start({ stateStore });
  await harness.caughtUp();
  await enricher.close();
  expect(await harness.enriched(0)).toEqual(expected(records));
});

test('raw records that retention removed before they were read raise an alarm', async () => {
  await harness.put(0, someRecords(10));
  const first = await harness.start();
  await harness.caughtUp();
  await first.close();
  const { eventLog } = harness;
  // Simulates a log whose retention removed the records 10 to 14: reading continues at the next record that exists.
  await harness.put(0, someRecords(10, 1));
  const second = await harness.start({
    eventLog: {
      ...eventLog,
      consume: (options) =>
        eventLog.consume({
          ...options,
          async open(handle) {
            const consumer = await options.open(handle);
            return { ...consumer, handle: (records) => consumer.handle(records.filter(({ offset }) => offset >= 15)) };
          },
        }),
    },
  });
  const alarm = await eventually('the alarm', () => second.status()[0]?.alarm);
  expect(alarm).toContain('expected raw offset 10, found 15');
  await second.close();
  expect(await harness.enriched(0)).toHaveLength(10);
  expect((await eventLog.positions(TOPIC_RAW, GROUP_ENRICHER))[0]?.committed).toBe(10);
});

test.each(["the enricher's commit", 'the state store'])(
  'a raw log that ends before the offset of %s raises an alarm',
  async (seenBy) => {
    const { eventLog } = harness;
    await harness.put(0, someRecords(10));
    const first = await harness.start();
    await harness.caughtUp();
    await first.close();
    await harness.put(0, someRecords(5, 1));
    const second = await harness.start({
      eventLog: {
        ...eventLog,
        positions: async (...of) => (await eventLog.positions(...of)).map((position) => ({ ...position, end: 8 })),
        consume: (options) =>
          eventLog.consume({
            ...options,
            open: (handle) =>
              options.open(
                seenBy === 'the state store' ? { ...handle, committed: { offset: 3, metadata: '' } } : handle,
              ),
          }),
      },
    });
    const alarm = await eventually('the alarm', () => second.status()[0]?.alarm);
    expect(alarm).toContain(`events.raw partition 0 ended at offset 8, but ${seenBy} goes up to 10`);
    await second.close();
    expect(await harness.enriched(0)).toHaveLength(10);
  },
);

test('an alarm is raised when a record is as old as half of the retention', async () => {
  await harness.put(0, someRecords(3));
  harness.time.now += 37 * 3600_000;
  const enricher = await harness.start({}, { rawRetentionMs: 72 * 3600_000 });
  await harness.caughtUp();
  const alarm = await eventually('the alarm', () => enricher.status()[0]?.alarm);
  expect(alarm).toContain('half of the retention');
  await enricher.close();
});

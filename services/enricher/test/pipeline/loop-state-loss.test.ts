import { DependencyError } from '@weir/domain/errors';
import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/records/topics';
import { deferred, eventually } from '@weir/testkit/eventually';
import { createCrashPoints } from '@weir/testkit/fault-points';
import { createFaultyEventLog } from '@weir/testkit/faulty-event-log';
import { createFaultyStateStore } from '@weir/testkit/faulty-state-store';
import fc from 'fast-check';
import type { TestRecord } from './loop-enrichment.ts';
import { type Harness, openHarness, PARTITIONS, taken, whateverStateThereIs } from './loop-harness.ts';

const DAY_MS = 24 * 3600_000;

let harness: Harness;
beforeEach(async () => {
  harness = await openHarness();
});
afterEach(() => harness.close());

const keyed = (key: string, after = 0): TestRecord => ({ visitor: key, key, receivedAt: harness.time.now + after });
const outcomes = async (partition: number) => taken(await harness.enriched(partition)).map(({ outcome }) => outcome);

async function storeAndClose(partition: number, ...records: readonly TestRecord[]): Promise<void> {
  await harness.put(partition, records);
  const enricher = await harness.start();
  await harness.caughtUp();
  await enricher.close();
}

test('no partition decides a key until every partition has folded its records again', async () => {
  await storeAndClose(0, keyed('a'));
  await harness.wipeState();
  const { promise: held, resolve: release } = deferred();
  const stateStore = whateverStateThereIs(harness, async (name) => {
    if (name === 'overwriteFirstSeen') await held;
  });
  await harness.put(1, [keyed('a'), keyed('b')]);
  const enricher = await harness.start({ stateStore });
  await eventually('it says what it waits for', () =>
    enricher.rebuilding()?.includes('rebuilding state: 1 of 2 partitions, 0 records'),
  );
  expect(await outcomes(1)).toEqual([]);
  release();
  await harness.caughtUp();
  await eventually('it is whole', () => enricher.rebuilding() === undefined);
  await enricher.close();
  expect(await outcomes(1)).toEqual(['duplicate', 'row']);
});

test('a rebuild goes on if retention removes the records that it was about to read', async () => {
  for (let nth = 0; nth < 6; nth++) await storeAndClose(0, keyed(`k${nth}`));
  await harness.wipeState();
  let calls = 0;
  const log = harness.eventLog;
  const offsetsAtTime: typeof log.offsetsAtTime = async (topic, timeMs) => {
    const offsets = await log.offsetsAtTime(topic, timeMs);
    // The second call finds the oldest record that the state needs. Before it returns, this record is removed from the log.
    calls += 1;
    if (calls === 2) await log.removeBefore(TOPIC_RAW, [3, 0]);
    return offsets;
  };
  const eventLog = { ...log, offsetsAtTime };
  await harness.put(0, [keyed('k4'), keyed('new')]);
  const enricher = await harness.start({ eventLog });
  await harness.caughtUp();
  await enricher.close();
  expect(calls).toBeGreaterThan(1);
  expect((await outcomes(0)).slice(-2)).toEqual(['duplicate', 'row']);
});

test('a partition rebuilds its state while another partition has no leader', async () => {
  await storeAndClose(0, keyed('a'), keyed('b'));
  await harness.wipeState();
  const log = harness.eventLog;
  const unavailable = () => Promise.reject(new DependencyError('event_log_unavailable', 'partition 1 has no leader'));
  const eventLog: typeof log = {
    ...log,
    offsetsAtTime: unavailable,
    positions: (topic, group, partitions = [0, 1]) =>
      topic === TOPIC_RAW && partitions.includes(1) ? unavailable() : log.positions(topic, group, partitions),
  };
  await harness.put(0, [{ visitor: 'v', receivedAt: harness.time.now }]);
  const enricher = await harness.start({ eventLog });
  await eventually('its outcome', async () => (await outcomes(0)).length === 3);
  await enricher.close();
});

test('records without a key do not wait', async () => {
  await storeAndClose(0, keyed('a'));
  await harness.wipeState();
  const { promise: held, resolve: release } = deferred();
  const stateStore = whateverStateThereIs(harness, async (name) => {
    if (name === 'overwriteFirstSeen') await held;
  });
  await harness.put(1, [{ visitor: 'v', receivedAt: harness.time.now }]);
  const enricher = await harness.start({ stateStore });
  await eventually('its outcome', async () => (await outcomes(1)).length === 1);
  expect(enricher.rebuilding()).toBeDefined();
  release();
  await enricher.close();
});

test('after a wipe under a running enricher, a partition without new records folds its old records again', async () => {
  await harness.put(0, [keyed('a'), keyed('b')]);
  const enricher = await harness.start({ stateStore: whateverStateThereIs(harness) });
  await harness.caughtUp();
  await harness.wipeState();
  await harness.put(1, [keyed('b'), keyed('c'), keyed('a')]);
  await harness.caughtUp();
  await enricher.close();
  expect(await outcomes(1)).toEqual(['duplicate', 'row', 'duplicate']);
});

test('after a loss, a record whose outcome was appended but not committed still has its key', async () => {
  await storeAndClose(0, keyed('x'), keyed('y'));
  await harness.put(0, [keyed('a')]);
  const points = createCrashPoints(Number.POSITIVE_INFINITY);
  let dead = false;
  const dying = await harness.start({
    eventLog: createFaultyEventLog(harness.eventLog, (name) => {
      if (name === 'append:done') dead = true;
      if (dead) throw new Error('dead');
      points.point(name);
    }),
    stateStore: createFaultyStateStore(harness.stateStore, () => {
      if (dead) throw new Error('dead');
    }),
  });
  await eventually('it died after the append', () => dead);
  await dying.close();
  expect((await harness.eventLog.positions(TOPIC_RAW, GROUP_ENRICHER))[0]?.committed).toBe(2);
  await harness.wipeState();
  await harness.put(1, [keyed('a'), keyed('y')]);
  const enricher = await harness.start();
  await harness.caughtUp();
  await enricher.close();
  expect(await outcomes(0)).toEqual(['row', 'row', 'row']);
  expect(await outcomes(1)).toEqual(['duplicate', 'duplicate']);
});

test('an older copy of the state is brought up to date before a key is decided', async () => {
  await storeAndClose(0, keyed('a'));
  const restore = await harness.saveState();
  await storeAndClose(0, keyed('b'));
  await restore();
  await storeAndClose(1, keyed('b'), keyed('a'), keyed('c'));
  expect(await outcomes(1)).toEqual(['duplicate', 'duplicate', 'row']);
});

test('after a loss, the key belongs to the record that was stored as a row, not to the one that is found first', async () => {
  // The record in partition 0 was received first, but is processed second.
  await storeAndClose(1, keyed('a', 1_000));
  await storeAndClose(0, keyed('a', 0));
  expect(await outcomes(0)).toEqual(['duplicate']);
  await harness.wipeState();
  await storeAndClose(0, keyed('a', DAY_MS), keyed('a', DAY_MS + 1_000));
  expect(await outcomes(0)).toEqual(['duplicate', 'duplicate', 'row']);
});

test('after crashes at any points, and with the state lost or restored from an old copy, each key has one row in all partitions', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          crashAt: fc.integer({ min: 0, max: 60 }),
          batch: fc.integer({ min: 1, max: 9 }),
          records: fc.array(fc.tuple(fc.integer({ min: 0, max: PARTITIONS - 1 }), fc.integer({ min: 0, max: 9 })), {
            maxLength: 20,
          }),
          loss: fc.constantFrom('none', 'none', 'wipe', 'restore', 'save'),
        }),
        { minLength: 1, maxLength: 6 },
      ),
      async (runs) => {
        const own = await openHarness();
        try {
          const put: TestRecord[][] = Array.from({ length: PARTITIONS }, () => []);
          let restore: (() => Promise<void>) | undefined;
          for (const { crashAt, batch, records, loss } of runs) {
            for (const [partition, n] of records) {
              const record = { visitor: `v${n}`, key: `k${n}`, receivedAt: own.time.now };
              put[partition]?.push(record);
              await own.put(partition, [record]);
            }
            if (loss === 'wipe') await own.wipeState();
            if (loss === 'save') restore = await own.saveState();
            if (loss === 'restore') await restore?.();
            const { point } = createCrashPoints(crashAt);
            const dying = await own.start(
              {
                eventLog: createFaultyEventLog(own.eventLog, point),
                stateStore: createFaultyStateStore(own.stateStore, point),
              },
              { batchRecordsMax: batch },
            );
            let over = false;
            const caughtUp = own.caughtUp().then(() => {
              over = true;
            });
            await eventually(
              'it is dead or done',
              () => over || dying.status().some(({ lastError }) => lastError?.includes('Crash')),
            );
            await dying.close();
            // Loses the state again after the crash. Even then, each key must have exactly one row.
            if (loss === 'wipe') await own.wipeState();
            const last = await own.start({}, { batchRecordsMax: 50 });
            await caughtUp;
            await last.close();
          }
          const rows = new Map<string, number>();
          for (const [partition, records] of put.entries()) {
            const seen = taken(await own.enriched(partition));
            expect(seen).toHaveLength(records.length);
            for (const { raw, outcome } of seen) {
              const key = records[raw]?.key ?? '';
              rows.set(key, (rows.get(key) ?? 0) + (outcome === 'row' ? 1 : 0));
            }
          }
          expect([...rows].filter(([, count]) => count !== 1)).toEqual([]);
        } finally {
          await own.close();
        }
      },
    ),
    { numRuns: 40 },
  );
});

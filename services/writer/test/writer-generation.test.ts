import { DependencyError } from '@weir/domain/errors';
import { GROUP_WRITER, TOPIC_ENRICHED } from '@weir/domain/records/topics';
import { eventually } from '@weir/testkit/eventually';
import { createFaultyAnalytics } from '@weir/testkit/faulty-analytics';
import { decodeProgress } from '../src/plan.ts';
import { range, rows, useHarness } from './writer-harness.ts';

const { engine, harness } = useHarness({ unknownSettlesMs: 0 });

test('if the tables are exchanged while a writer runs, it opens its partition again: no row is lost, stored twice or dead-lettered', async () => {
  await harness.put(range(0, 15));
  const codes: unknown[] = [];
  const writer = await harness.start({
    analytics: {
      ...engine.analytics,
      async insertRecords(batch) {
        await engine.analytics.insertRecords(batch).catch((error: DependencyError) => {
          codes.push(error.code);
          throw error;
        });
      },
    },
  });
  await harness.caughtUp();
  await engine.swap(harness.eventLog.logId);
  await harness.put(range(15, 45));
  await harness.caughtUp();
  expect(codes).toEqual(['generation_changed']);
  expect(await harness.stored()).toEqual(rows(45));
  expect(writer.status()[0]?.alarm).toBeUndefined();
  await writer.close();
});

test('a committed plan of former tables is not repeated: its rows are already in the tables, with another token', async () => {
  await harness.put(range(0, 10));
  const lost = createFaultyAnalytics(engine.analytics, (name) => {
    if (name === 'insertRecords:done') throw new DependencyError('analytics_unavailable', 'test');
  });
  const first = await harness.start({ analytics: lost });
  await eventually('inserted, but not known', async () => (await harness.stored()).length === 10);
  await first.close();
  const generation = await engine.swap(harness.eventLog.logId);
  const second = await harness.start();
  await harness.put(range(10, 15));
  await harness.caughtUp();
  await second.close();
  expect(await harness.stored()).toEqual(rows(15));
  const [position] = await harness.eventLog.positions(TOPIC_ENRICHED, GROUP_WRITER);
  expect(decodeProgress(position?.metadata ?? '')).toEqual({ next: 15 });
  expect(generation).toBe(await engine.analytics.generation());
});

test('a committed plan of former tables whose rows are not in the new ones is inserted', async () => {
  await harness.put(range(0, 10));
  const refusing = createFaultyAnalytics(engine.analytics, (name) => {
    if (name === 'insertRecords') throw new DependencyError('analytics_unavailable', 'test');
  });
  const first = await harness.start({ analytics: refusing });
  await eventually('planned', async () => {
    const [position] = await harness.eventLog.positions(TOPIC_ENRICHED, GROUP_WRITER);
    return decodeProgress(position?.metadata ?? '')?.plan !== undefined;
  });
  await first.close();
  await engine.swap(harness.eventLog.logId);
  const second = await harness.start();
  await harness.caughtUp();
  await second.close();
  expect(await harness.stored()).toEqual(rows(10));
});

test('while tables are being exchanged, a partition waits to be opened', async () => {
  await harness.put(range(0, 5));
  let closed = true;
  const writer = await harness.start({
    analytics: {
      ...engine.analytics,
      async generation() {
        if (closed) throw new DependencyError('generation_changed', 'test');
        return engine.analytics.generation();
      },
    },
  });
  await eventually('it waits', () => writer.status()[0]?.lastError?.includes('generation_changed'));
  closed = false;
  await harness.caughtUp();
  expect(await harness.stored()).toEqual(rows(5));
  await writer.close();
});

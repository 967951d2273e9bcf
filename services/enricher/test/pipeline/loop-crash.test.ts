import { eventually } from '@weir/testkit/eventually';
import { createCrashPoints } from '@weir/testkit/fault-points';
import { createFaultyEventLog } from '@weir/testkit/faulty-event-log';
import { createFaultyStateStore } from '@weir/testkit/faulty-state-store';
import fc from 'fast-check';
import { expected, type Harness, openHarness, someRecords, taken } from './loop-harness.ts';

/** Runs the enricher until it crashes at the crash point with the number `at`, or has processed all records. */
async function runUntil(harness: Harness, at: number, batchRecordsMax: number): Promise<void> {
  const points = createCrashPoints(at);
  const enricher = await harness.start(
    {
      eventLog: createFaultyEventLog(harness.eventLog, points.point),
      stateStore: createFaultyStateStore(harness.stateStore, points.point),
    },
    { batchRecordsMax },
  );
  let caughtUp = false;
  const end = harness.caughtUp().then(() => {
    caughtUp = true;
  });
  await eventually('it crashed or caught up', () => points.crashed || caughtUp);
  await enricher.close();
  if (caughtUp) return;
  const last = await harness.start({}, { batchRecordsMax: 50 });
  await end;
  await last.close();
}

test('after crashes at any points and a loss of the state, each raw offset has exactly its expected outcome', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          crashAt: fc.integer({ min: 0, max: 24 }),
          batch: fc.integer({ min: 1, max: 9 }),
          fresh: fc.integer({ min: 0, max: 12 }),
          wipe: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
        }),
        { minLength: 1, maxLength: 5 },
      ),
      async (runs) => {
        const harness = await openHarness();
        try {
          const records = someRecords(200);
          let put = 0;
          for (const { crashAt, batch, fresh, wipe } of runs) {
            await harness.put(0, records.slice(put, put + 5 + fresh));
            put += 5 + fresh;
            if (wipe) await harness.wipeState();
            await runUntil(harness, crashAt, batch);
          }
          expect(taken(await harness.enriched(0))).toEqual(expected(records.slice(0, put)));
        } finally {
          await harness.close();
        }
      },
    ),
    { numRuns: 60 },
  );
});

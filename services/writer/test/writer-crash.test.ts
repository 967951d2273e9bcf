import { eventually } from '@weir/testkit/eventually';
import { createCrashPoints } from '@weir/testkit/fault-points';
import { createFaultyAnalytics } from '@weir/testkit/faulty-analytics';
import { createFaultyEventLog } from '@weir/testkit/faulty-event-log';
import fc from 'fast-check';
import { type Harness, openHarness, range, useEngine } from './writer-harness.ts';

const engine = useEngine();

/** Runs the writer until it crashes at the crash point with the number `at`, or has processed all records. */
async function runUntil(harness: Harness, at: number, rowsMax: number): Promise<void> {
  const points = createCrashPoints(at);
  const ports = {
    eventLog: createFaultyEventLog(harness.eventLog, points.point),
    analytics: createFaultyAnalytics(engine.analytics, points.point),
  };
  const writer = await harness.start(ports, rowsMax);
  let caughtUp = false;
  const end = harness.caughtUp().then(() => {
    caughtUp = true;
  });
  await eventually('it crashed or caught up', () => points.crashed || caughtUp);
  await writer.close();
  if (caughtUp) return;
  const last = await harness.start({}, 100);
  await end;
  await last.close();
}

test('after crashes at any points, each raw offset is in records exactly once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          crashAt: fc.integer({ min: 0, max: 20 }),
          rowsMax: fc.integer({ min: 1, max: 9 }),
          fresh: fc.integer({ min: 1, max: 15 }),
          repeated: fc.integer({ min: 0, max: 10 }),
        }),
        { minLength: 1, maxLength: 3 },
      ),
      async (runs) => {
        const harness = await openHarness(engine, { unknownSettlesMs: 0 });
        try {
          let end = 0;
          const bad = [3, 17];
          for (const { crashAt, rowsMax, fresh, repeated } of runs) {
            await harness.put(range(Math.max(0, end - repeated), end + fresh), { bad });
            end += fresh;
            await runUntil(harness, crashAt, rowsMax);
          }
          expect(await harness.stored()).toEqual(
            range(0, end).map((raw) => ({
              raw,
              outcome: bad.includes(raw) ? 'dead' : 'row',
              reason: bad.includes(raw) ? 'row_refused' : '',
              copies: 1,
            })),
          );
        } finally {
          await harness.close();
        }
      },
    ),
    { numRuns: 12 },
  );
});

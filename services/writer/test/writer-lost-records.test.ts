import { TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/topics';
import type { EventLog } from '@weir/ports/event-log';
import { eventually } from '@weir/testkit/eventually';
import { type Engine, type Harness, openEngine, openHarness, range, rows } from './writer-harness.ts';

let engine: Engine;
let harness: Harness;
beforeAll(async () => {
  engine = await openEngine();
}, 120_000);
afterAll(() => engine.close());
beforeEach(async () => {
  harness = await openHarness(engine);
});
afterEach(() => harness.close());

describe('a log that ends before what the table holds has lost records: nothing is written', () => {
  /** The log as it comes back from a backup: the same log, ending earlier. */
  function endingAt(topic: string, end: number): EventLog {
    const { eventLog } = harness;
    return {
      ...eventLog,
      async positions(of, group) {
        const positions = await eventLog.positions(of, group);
        return of === topic ? positions.map((position) => ({ ...position, end })) : positions;
      },
    };
  }

  test.each([
    [TOPIC_RAW, 4, 'events.raw partition 0 ends at offset 4, but the table records goes up to 5'],
    [TOPIC_ENRICHED, 4, "events.enriched partition 0 ends at offset 4, but the writer's commit goes up to 5"],
  ])('%s', async (topic, end, message) => {
    await harness.put(range(0, 5));
    const first = await harness.start();
    await harness.caughtUp();
    await first.close();
    await harness.put(range(5, 7));
    const second = await harness.start({ eventLog: endingAt(topic, end) });
    expect(await eventually('the alarm', () => second.status()[0]?.alarm)).toContain(message);
    await second.close();
    expect(await harness.stored()).toEqual(rows(5));
    const third = await harness.start();
    await harness.caughtUp();
    await third.close();
    expect(await harness.stored()).toEqual(rows(7));
  });

  test('a new log beside old tables begins at its own first record', async () => {
    await harness.put(range(0, 5));
    const first = await harness.start();
    await harness.caughtUp();
    await first.close();
    const other = await openHarness(engine);
    try {
      await other.put(range(0, 3));
      const writer = await other.start();
      await other.caughtUp();
      await writer.close();
      expect(await other.stored()).toEqual(rows(3));
    } finally {
      await other.close();
    }
  });
});

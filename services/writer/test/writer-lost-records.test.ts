import { TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import type { EventLog } from '@weir/ports/event-log';
import { eventually } from '@weir/testkit/eventually';
import { commitByHand, openHarness, range, rows, useHarness } from './writer-harness.ts';

const { engine, harness } = useHarness();

describe('a log that ends before the table has lost records: nothing is inserted', () => {
  /** Simulates a log that was restored from a backup: its topic ends earlier than before. */
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

  async function fiveRows(): Promise<void> {
    await harness.put(range(0, 5));
    const writer = await harness.start();
    await harness.caughtUp();
    await writer.close();
  }

  async function alarmOf(eventLog: EventLog): Promise<string> {
    const writer = await harness.start({ eventLog });
    const alarm = await eventually('the alarm', () => writer.status()[0]?.alarm);
    await writer.close();
    return alarm;
  }

  test(TOPIC_ENRICHED, async () => {
    await fiveRows();
    await harness.put(range(5, 7));
    expect(await alarmOf(endingAt(TOPIC_ENRICHED, 4))).toContain(
      "events.enriched partition 0 ended at offset 4, but the writer's commit goes up to 5",
    );
    expect(await harness.stored()).toEqual(rows(5));
  });

  test(`${TOPIC_RAW}, also when it has grown past the end of the table`, async () => {
    await fiveRows();
    await harness.put(range(5, 7));
    const message = 'events.raw partition 0 ended at offset 4, but the table records goes up to 5';
    expect(await alarmOf(endingAt(TOPIC_RAW, 4))).toContain(message);
    expect(await alarmOf(harness.eventLog)).toContain(message);
    expect(await alarmOf(endingAt(TOPIC_RAW, 3))).toContain(message.replace('offset 4', 'offset 3'));
    expect(await harness.stored()).toEqual(rows(5));
  });

  test(`${TOPIC_RAW}, also when it grows past the end of the table before the next attempt`, async () => {
    await fiveRows();
    await harness.put(range(5, 7));
    const { eventLog } = harness;
    let checks = 0;
    const writer = await harness.start({
      eventLog: {
        ...eventLog,
        positions: (of, group) =>
          of === TOPIC_RAW && ++checks === 1
            ? endingAt(TOPIC_RAW, 4).positions(of, group)
            : eventLog.positions(of, group),
      },
    });
    await eventually('further attempts', () => checks > 2);
    expect(writer.status()[0]?.alarm).toContain('ended at offset 4, but the table records goes up to 5');
    await writer.close();
    expect(await harness.stored()).toEqual(rows(5));
  });

  test('the writer continues when the tables were restored to the state of the log, and its commits were deleted', async () => {
    await fiveRows();
    await harness.put(range(5, 7));
    await alarmOf(endingAt(TOPIC_RAW, 4));
    // The log ended at offset 4. The tables are restored to the same state: they end at row 3.
    const { logId } = harness.eventLog;
    await engine.analytics.change(`ALTER TABLE records DELETE WHERE log_id = '${logId}' AND raw_offset = 4`);
    // With its commit, the writer would skip the new record at offset 4.
    expect(await alarmOf(harness.eventLog)).toContain(
      "events.raw partition 0 ended at offset 4, but the writer's commit goes up to 5",
    );
    await commitByHand(harness.eventLog, { offset: 0, metadata: '' });
    const writer = await harness.start();
    await harness.caughtUp();
    await writer.close();
    const again = await harness.start();
    await harness.caughtUp();
    expect(again.status()[0]?.alarm).toBeUndefined();
    await again.close();
    expect(await harness.stored()).toEqual(rows(7));
  });

  test('a new log beside old tables begins at its first record', async () => {
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

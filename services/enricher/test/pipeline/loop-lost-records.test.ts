import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/records/topics';
import type { EventLog, PartitionConsumer } from '@weir/ports/event-log';
import { eventually } from '@weir/testkit/eventually';
import { useOpenedInEachTest } from '@weir/testkit/use-opened';
import { expected, openHarness, someRecords, taken } from './loop-harness.ts';

const harness = useOpenedInEachTest(openHarness);

const RECORDS = someRecords(5);
const ALARM = "events.raw partition 0 ended at offset 4, but the enricher's commit goes up to 5";

/** Processes five records, and passes the consumer of partition 0 to `use` before it is closed. */
async function processFive(use?: (consumer: PartitionConsumer) => Promise<void> | undefined): Promise<void> {
  const { eventLog } = harness;
  await harness.put(0, RECORDS);
  let first: PartitionConsumer | undefined;
  const consume: EventLog['consume'] = (options) =>
    eventLog.consume({
      ...options,
      async open(handle) {
        const consumer = await options.open(handle);
        if (handle.partition === 0) first = consumer;
        return consumer;
      },
    });
  const enricher = await harness.start({ eventLog: { ...eventLog, consume } });
  await harness.caughtUp();
  await use?.(first as PartitionConsumer);
  await enricher.close();
}

async function alarmOf(eventLog: EventLog, attempts = (): boolean => true): Promise<string | undefined> {
  const enricher = await harness.start({ eventLog });
  await eventually('the alarm', () => enricher.status()[0]?.alarm);
  await eventually('further attempts', attempts);
  const [partition] = enricher.status();
  await enricher.close();
  return partition?.alarm;
}

/** Simulates a log that has lost records, and that grows past the lost offsets after the first comparison. */
function endingAt4AtFirst(): { readonly eventLog: EventLog; readonly attempts: () => boolean } {
  const { eventLog } = harness;
  let checks = 0;
  return {
    attempts: () => checks > 2,
    eventLog: {
      ...eventLog,
      async positions(topic, group, partitions) {
        const positions = await eventLog.positions(topic, group, partitions);
        return topic === TOPIC_RAW && ++checks === 1 ? positions.map((one) => ({ ...one, end: 4 })) : positions;
      },
    },
  };
}

async function expectNothingProcessed(): Promise<void> {
  expect(taken(await harness.enriched(0))).toEqual(expected(RECORDS));
  expect((await harness.eventLog.positions(TOPIC_RAW, GROUP_ENRICHER))[0]).toMatchObject({
    committed: 5,
    metadata: '4',
  });
}

test('a log that has lost records is refused, also when it grows past the commit before the next attempt or the next start', async () => {
  await processFive();
  await harness.put(0, someRecords(3, 1));
  const { eventLog, attempts } = endingAt4AtFirst();
  expect(await alarmOf(eventLog, attempts)).toContain(ALARM);
  await expectNothingProcessed();
  expect(await alarmOf(harness.eventLog)).toContain(ALARM);
  await expectNothingProcessed();
});

test('a loss that was found while the partition was read is also found at the next start', async () => {
  await processFive((consumer) => consumer.truncated?.(4));
  await harness.put(0, someRecords(3, 1));
  expect(await alarmOf(harness.eventLog)).toContain(ALARM);
  await expectNothingProcessed();
});

import { randomUUID } from 'node:crypto';
import type { StoredRecord } from '@weir/ports/event-log';
import type { KafkaCompressionName } from '@weir/runtime/config/engine-config';
import { eventually } from '@weir/testkit/eventually';
import { describeLive } from '@weir/testkit/live-ports';
import { kafkaCompression } from '../../src/kafka/kafka-compression.ts';
import type { KafkaEventLog } from '../../src/kafka/kafka-event-log.ts';
import { encodeRecordBatch } from '../../src/kafka/produce/record-batch.ts';
import { openKafkaFixtureLog } from './kafka-fixture-log.ts';

const NAMES: readonly KafkaCompressionName[] = ['none', 'gzip', 'lz4'];
/** Lengths of values: 0, around the largest lengths whose varint has 1 or 2 bytes, and above one chunk of a codec. */
const SIZES = [0, 1, 63, 64, 127, 128, 8_191, 8_192, 1_000_000];
const RECORDS = SIZES.flatMap((size) => [
  { partition: 1, value: Buffer.alloc(size, 'ab') },
  { partition: 1, value: Buffer.alloc(size, 'c'), headers: { offset: String(size), name: 'é' } },
]);

test('compressed batches are smaller and name their compression', async () => {
  const records = [{ key: null, value: Buffer.alloc(100_000, '{"a":1}'), headers: {} }];
  const sizes: Record<string, number> = {};
  for (const name of NAMES) {
    const batch = await encodeRecordBatch(records, 0, kafkaCompression(name));
    expect(batch.readInt16BE(21)).toBe(kafkaCompression(name).code);
    sizes[name] = batch.length;
  }
  expect(sizes.none).toBeGreaterThan(100_000);
  expect(Math.max(sizes.gzip ?? 0, sizes.lz4 ?? 0)).toBeLessThan(2_000);
});

describeLive('kafka', (brokers) => {
  test('records with different compression settings can be read from one topic', async () => {
    const prefix = `test-${randomUUID().slice(0, 8)}.`;
    const logs: KafkaEventLog[] = [];
    for (const compression of NAMES) {
      const log = await openKafkaFixtureLog(brokers(), prefix, 1, { compression });
      logs.push(log);
      const outcomes = await log.append('topic.0', RECORDS);
      expect(outcomes.map(({ status }) => status)).toEqual(RECORDS.map(() => 'stored'));
    }
    for (const [reader, log] of logs.entries()) {
      const read: StoredRecord[] = [];
      const subscription = await log.consume({
        topic: 'topic.0',
        group: `reader-${reader}`,
        onError: () => undefined,
        open: async () => ({ handle: async (records) => void read.push(...records), close: async () => undefined }),
      });
      await eventually('all records were read', () => read.length >= NAMES.length * RECORDS.length);
      await subscription.close();
      const wanted = NAMES.flatMap(() => RECORDS);
      expect(read.map(({ offset }) => offset)).toEqual(wanted.map((_, offset) => offset));
      expect(
        read.map(({ value }) => Buffer.from(value).equals(wanted.shift()?.value ?? Buffer.from('x'))),
      ).not.toContain(false);
      expect(read[1]?.headers).toEqual({ offset: '0', name: 'é' });
    }
    await Promise.all(logs.map((log) => log.close()));
  });
});

import type { KafkaCompression } from '../kafka-compression.ts';
import type { AppendRun } from './append-run.ts';
import { encodeRecordBatch } from './record-batch.ts';

const ACKS_ALL = -1;

/**
 * Encodes the body of a produce request, versions 3 to 7. Each entry of `batches` is the list of runs for one partition. A run has the records
 * of one append call.
 */
export async function encodeProduce(
  batches: readonly (readonly AppendRun[])[],
  timeoutMs: number,
  compression: KafkaCompression,
): Promise<Buffer> {
  const byTopic = new Map<string, Buffer[]>();
  const now = Date.now();
  for (const batch of batches) {
    const { topic, partition } = batch[0] as AppendRun;
    const records = batch.length === 1 ? (batch[0] as AppendRun).records : batch.flatMap((run) => run.records);
    const bytes = await encodeRecordBatch(records, now, compression);
    const place = Buffer.allocUnsafe(8);
    place.writeInt32BE(partition, 0);
    place.writeInt32BE(bytes.length, 4);
    const parts = byTopic.get(topic) ?? [];
    byTopic.set(topic, parts);
    parts.push(place, bytes);
  }
  const head = Buffer.allocUnsafe(12);
  head.writeInt16BE(-1, 0);
  head.writeInt16BE(ACKS_ALL, 2);
  head.writeInt32BE(timeoutMs, 4);
  head.writeInt32BE(byTopic.size, 8);
  const topics = [...byTopic].flatMap(([topic, parts]) => [topicHead(topic, parts.length / 2), ...parts]);
  return Buffer.concat([head, ...topics]);
}

function topicHead(topic: string, partitions: number): Buffer {
  const name = Buffer.from(topic);
  const head = Buffer.allocUnsafe(2 + name.length + 4);
  head.writeInt16BE(name.length, 0);
  name.copy(head, 2);
  head.writeInt32BE(partitions, 2 + name.length);
  return head;
}

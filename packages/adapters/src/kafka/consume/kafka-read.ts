import type { StoredRecord } from '@weir/ports/event-log';
import type { KafkaMessage } from 'kafkajs';
import { eventLogUnavailable, knownRefusal } from '../kafka-errors.ts';
import { type KafkaLink, leaderOf, retried } from '../kafka-link.ts';
import { readEdges } from '../kafka-offsets.ts';
import { withPartitionErrors } from '../kafkajs-private.ts';

const ATTEMPTS = 10;
const OFFSET_OUT_OF_RANGE = 1;

interface FetchResponse {
  readonly responses: readonly {
    readonly partitions: readonly { readonly errorCode: number; readonly messages: readonly KafkaMessage[] }[];
  }[];
}

/** Reads records with one fetch, from offset `from` on. If retention has removed the record at `from`, reads from the oldest remaining record on. */
export async function readRecords(
  link: KafkaLink,
  topic: string,
  partition: number,
  from: number,
  bytesMax: number,
): Promise<readonly StoredRecord[]> {
  const { errorCode, messages } = await fetchOnce(link, topic, partition, from, bytesMax);
  if (errorCode === 0) {
    // The broker returns whole batches, so the first records may have offsets below `from`.
    return messages.map(toStoredRecord).filter(({ offset }) => offset >= from);
  }
  if (errorCode === OFFSET_OUT_OF_RANGE) {
    const { first, end } = (await readEdges(link, topic, [partition])).get(partition)!;
    return from < first && first < end ? readRecords(link, topic, partition, first, bytesMax) : [];
  }
  const why = knownRefusal(errorCode)?.type ?? `error ${errorCode}`;
  throw eventLogUnavailable(`cannot read ${topic}/${partition}`, new Error(why));
}

function fetchOnce(link: KafkaLink, topic: string, partition: number, from: number, bytesMax: number) {
  return retried(ATTEMPTS, async (isRepeated) => {
    const leader = await link.run(async (cluster) => {
      if (isRepeated) await cluster.refreshMetadata();
      return leaderOf(cluster, topic, partition);
    });
    if (leader === undefined) throw new Error(`${topic}/${partition} has no leader`);
    const response = (await link.runOn(leader, (broker) =>
      withPartitionErrors(broker).fetch({
        isolationLevel: 0,
        maxWaitTime: 0,
        minBytes: 0,
        maxBytes: bytesMax,
        topics: [{ topic, partitions: [{ partition, fetchOffset: String(from), maxBytes: bytesMax }] }],
      }),
    )) as FetchResponse;
    const found = response.responses[0]?.partitions[0];
    if (found === undefined) throw new Error(`the broker did not answer for ${topic}/${partition}`);
    const refusal = knownRefusal(found.errorCode);
    // The leader may have moved. The next attempt requests new metadata and finds the new leader.
    if (refusal?.again) throw new Error(refusal.type);
    return found;
  });
}

export function toStoredRecord(message: KafkaMessage): StoredRecord {
  const headers: Record<string, string> = {};
  for (const name in message.headers) headers[name] = String(message.headers[name]);
  return {
    offset: Number(message.offset),
    value: message.value ?? Buffer.alloc(0),
    headers,
    appendedAt: Number(message.timestamp),
  };
}

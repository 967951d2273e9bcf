import { DependencyError } from '@weir/domain/errors';
import kafkajs, { type Cluster } from 'kafkajs';
import { type KafkaLink, leaderOf, withRetry } from './kafka-link.ts';
import type { AdminBroker } from './kafkajs-private.ts';

/** Number of attempts, 100 ms apart. */
const ATTEMPTS = 10;

export interface Edges {
  /** The lowest offset that retention has not removed. */
  readonly first: number;
  /** One past the highest offset. */
  readonly end: number;
}

/** Reads the first and the end offset of partitions. Rejects with kafkajs's error. */
export async function readEdges(
  link: KafkaLink,
  topic: string,
  partitions: readonly number[],
  attempts = ATTEMPTS,
): Promise<ReadonlyMap<number, Edges>> {
  const asked = partitions.map((partition) => ({ partition }));
  const [first, end] = await withRetry(link, attempts, async (cluster) => {
    requireLeaders(cluster, topic, partitions);
    return Promise.all([
      cluster.fetchTopicsOffset([{ topic, partitions: asked, fromBeginning: true }]),
      cluster.fetchTopicsOffset([{ topic, partitions: asked, fromBeginning: false }]),
    ]);
  });
  const ends = byPartition(end);
  return new Map(
    [...byPartition(first)].map(([partition, offset]) => [
      partition,
      { first: offset, end: ends.get(partition) ?? offset },
    ]),
  );
}

/**
 * Resolves with true if a partition of the topic has ever had a record, also if retention has removed it. Rejects with `event_log_unavailable` if
 * it depends on a partition without a leader, and otherwise with kafkajs's error. Closes the link.
 */
export async function hasHadRecords(link: KafkaLink, topic: string): Promise<boolean> {
  try {
    const all = await link.run(async (cluster) => cluster.findTopicPartitionMetadata(topic));
    const led = all.filter(({ leader }) => leader >= 0).map(({ partitionId }) => partitionId);
    if ([...(await readEdges(link, topic, led)).values()].some(({ end }) => end > 0)) return true;
    if (led.length === all.length) return false;
    throw new DependencyError(
      'event_log_unavailable',
      `${all.length - led.length} partitions of ${topic} have no leader, so it is unknown whether the topic has records: start their brokers`,
    );
  } finally {
    await link.close();
  }
}

/** Returns, for each partition, the lowest offset that was appended at or after `timeMs`; `undefined` if there is none. */
export async function readOffsetsAtTime(
  link: KafkaLink,
  topic: string,
  partitions: readonly number[],
  timeMs: number,
): Promise<ReadonlyMap<number, number | undefined>> {
  const asked = partitions.map((partition) => ({ partition }));
  const found = await withRetry(link, ATTEMPTS, async (cluster) => {
    requireLeaders(cluster, topic, partitions);
    return cluster.fetchTopicsOffset([{ topic, partitions: asked, fromTimestamp: timeMs }]);
  });
  return new Map([...byPartition(found)].map(([partition, offset]) => [partition, offset < 0 ? undefined : offset]));
}

/** Removes the records of partition p below `offsets[p]`, for each partition. Rejects with kafkajs's error. */
export async function removeRecordsBefore(link: KafkaLink, topic: string, offsets: readonly number[]): Promise<void> {
  await withRetry(link, ATTEMPTS, async (cluster) => {
    const byLeader = new Map<number, { readonly partition: number; readonly offset: string }[]>();
    offsets.forEach((offset, partition) => {
      if (offset === 0) return;
      const leader = leaderOf(cluster, topic, partition);
      if (leader === undefined) throw new Error(`${topic}/${partition} has no leader`);
      const own = byLeader.get(leader.nodeId) ?? [];
      own.push({ partition, offset: String(offset) });
      byLeader.set(leader.nodeId, own);
    });
    for (const [leader, partitions] of byLeader) {
      const broker = (await cluster.findBroker({ nodeId: String(leader) })) as AdminBroker;
      await broker.deleteRecords({ topics: [{ topic, partitions }] }).catch((error: unknown) => {
        throw errorOfPartition(error);
      });
    }
  });
}

/**
 * Throws if a partition has no leader. Otherwise kafkajs would look for the broker -1 and fail, and the link would then close all connections, even
 * those of other reads.
 */
function requireLeaders(cluster: Cluster, topic: string, partitions: readonly number[]): void {
  const found = cluster
    .findTopicPartitionMetadata(topic)
    .find(({ partitionId, leader }) => leader < 0 && partitions.includes(partitionId));
  if (found === undefined) return;
  const error = new Error(`${topic}/${found.partitionId} has no leader`);
  throw new kafkajs.KafkaJSProtocolError(Object.assign(error, { type: 'LEADER_NOT_AVAILABLE', retriable: true }));
}

/** kafkajs says only that records were not deleted. The reason is in the error of a partition. */
function errorOfPartition(error: unknown): unknown {
  const { partitions = [] } = error as { readonly partitions?: readonly { readonly error?: unknown }[] };
  return partitions.find((partition) => partition.error != null)?.error ?? error;
}

function byPartition(
  topics: readonly { readonly partitions: readonly { readonly partition: number; readonly offset: string }[] }[],
): ReadonlyMap<number, number> {
  return new Map(
    topics.flatMap(({ partitions }) => partitions.map(({ partition, offset }) => [partition, Number(offset)])),
  );
}

import type { Cluster } from 'kafkajs';
import { eventLogUnavailable } from './kafka-errors.ts';
import { type KafkaLink, leaderOf, retried } from './kafka-link.ts';
import { readEdges } from './kafka-offsets.ts';
import type { TopicsSpec } from './kafka-topics.ts';

/** Number of attempts, 100 ms apart. A broker answers for a new partition only after it has created the files of the partition. */
const OPEN_ATTEMPTS = 200;

/** Resolves when the leaders of these topics answer for all partitions that have a leader. Rejects with `event_log_unavailable`. */
export async function awaitLeaders(
  link: KafkaLink,
  names: readonly string[],
  { topics }: TopicsSpec,
  prefix: string,
  partitions: readonly number[],
): Promise<void> {
  for (const name of names) {
    const count = topics[name.slice(prefix.length)]?.partitions;
    const asked = typeof count === 'number' ? partitions.slice(0, count) : partitions;
    await retried(OPEN_ATTEMPTS, async (isRepeated) => {
      // Partitions without a leader do not prevent work on the other partitions. `drift` (kafka-topics.ts) reports them.
      const led = await link.run(async (cluster) => {
        if (isRepeated) await cluster.refreshMetadata();
        return asked.filter((partition) => leaderOf(cluster, name, partition) !== undefined);
      });
      await readEdges(link, name, led, 1);
    }).catch((error: unknown) => {
      throw eventLogUnavailable(`the partitions of ${name} do not answer`, error);
    });
  }
}

/**
 * Resolves when, for each topic, at least one broker that leads partitions of the topic answers. Partitions without a leader are ignored
 * (`drift` in kafka-topics.ts reports them), and so are other brokers that hang: otherwise one lost broker would make every process unready. The
 * first attempt uses the last metadata of the link and requests new metadata without waiting, because the broker that gets this request can
 * hang. If the first attempt fails, a second one waits for new metadata.
 */
export async function ping(link: KafkaLink, topics: readonly string[]): Promise<void> {
  link.refreshLeaders();
  await retried(2, async (isRepeated) => {
    const asked = await link.run(async (cluster) => {
      if (isRepeated) await cluster.refreshMetadata();
      return topics.map((topic) => [topic, oneOfEachLeader(cluster, topic)] as const);
    });
    const answered = asked.map(async ([topic, partitions]) => {
      if (partitions.length === 0) throw new Error(`no partition of ${topic} has a leader`);
      await Promise.any(partitions.map((partition) => readEdges(link, topic, [partition], 1)));
    });
    await Promise.all(answered);
  }).catch((error: unknown) => {
    throw eventLogUnavailable('Kafka does not answer', error);
  });
}

/** Returns one partition for each broker that is a leader. */
function oneOfEachLeader(cluster: Cluster, topic: string): readonly number[] {
  const led = cluster.findTopicPartitionMetadata(topic).filter(({ leader }) => leader >= 0);
  return [...new Map(led.map(({ leader, partitionId }) => [leader, partitionId])).values()];
}

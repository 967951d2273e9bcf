import type { Cluster } from 'kafkajs';
import { eventLogUnavailable } from './kafka-errors.ts';
import { type KafkaLink, leaderOf, retried } from './kafka-link.ts';
import { readEdges } from './kafka-offsets.ts';
import type { TopicsSpec } from './kafka-topics.ts';

/** Number of attempts, 100 ms apart. They are needed because a broker serves new partitions only after it has created their files. */
const OPEN_ATTEMPTS = 200;

/** Resolves when each partition of these topics that has a leader answers. Rejects with `event_log_unavailable`. */
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
      // `drift` reports partitions without a leader. They do not prevent work on the other partitions.
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
 * Resolves when one leader of each topic answers. `drift` reports the other partitions without a leader. If `ping` rejected because of them,
 * or because of one broker that hangs, one lost broker would make every process unready.
 */
export async function ping(link: KafkaLink, topics: readonly string[]): Promise<void> {
  try {
    const asked = await link.run(async (cluster) => {
      await cluster.refreshMetadata();
      return topics.map((topic) => [topic, oneOfEachLeader(cluster, topic)] as const);
    });
    const answered = asked.map(async ([topic, partitions]) => {
      if (partitions.length === 0) throw new Error(`no partition of ${topic} has a leader`);
      await Promise.any(partitions.map((partition) => readEdges(link, topic, [partition], 1)));
    });
    await Promise.all(answered);
  } catch (error) {
    throw eventLogUnavailable('Kafka does not answer', error);
  }
}

/** One partition of each broker that is the leader of a partition. */
function oneOfEachLeader(cluster: Cluster, topic: string): readonly number[] {
  const led = cluster.findTopicPartitionMetadata(topic).filter(({ leader }) => leader >= 0);
  return [...new Map(led.map(({ leader, partitionId }) => [leader, partitionId])).values()];
}

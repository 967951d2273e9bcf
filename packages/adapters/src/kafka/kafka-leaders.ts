import { eventLogUnavailable } from './kafka-errors.ts';
import { type KafkaLink, leaderOf, withRetry } from './kafka-link.ts';
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
    await withRetry(link, OPEN_ATTEMPTS, async (cluster) => {
      // `drift` reports partitions without a leader. They do not prevent work on the other partitions.
      const led = asked.filter((partition) => leaderOf(cluster, name, partition) !== undefined);
      const topic = { topic: name, partitions: led.map((partition) => ({ partition })), fromBeginning: true };
      await cluster.fetchTopicsOffset([topic]);
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
    await link.run(async (cluster) => {
      await cluster.refreshMetadata();
      const answered = topics.map(async (topic) => {
        const led = cluster.findTopicPartitionMetadata(topic).filter(({ leader }) => leader >= 0);
        if (led.length === 0) throw new Error(`no partition of ${topic} has a leader`);
        const ofLeaders = new Map(led.map(({ leader, partitionId }) => [leader, partitionId]));
        await Promise.any(
          [...ofLeaders.values()].map((partition) =>
            cluster.fetchTopicsOffset([{ topic, partitions: [{ partition }], fromBeginning: false }]),
          ),
        );
      });
      await Promise.all(answered);
    });
  } catch (error) {
    throw eventLogUnavailable('Kafka does not answer', error);
  }
}

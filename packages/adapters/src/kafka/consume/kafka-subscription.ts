import type { Commit, ConsumeOptions, Subscription } from '@weir/ports/event-log';
import type { Logger } from '@weir/runtime/logger';
import type { KafkaLink } from '../kafka-link.ts';
import { createKafkaFetcher } from './kafka-fetcher.ts';
import { joinKafkaGroup, type Session } from './kafka-group-member.ts';
import { type PartitionWorker, startPartitionWorker } from './kafka-partition-worker.ts';

export interface SubscribeDeps {
  /** Connections for joins and commits. Fetches have other connections, because a long poll delays all later requests of its connection. */
  readonly groupLink: KafkaLink;
  readonly heartbeatLink: KafkaLink;
  readonly fetchLink: KafkaLink;
  /** The full names of topic and group in Kafka. */
  readonly topic: string;
  readonly groupId: string;
  readonly logger: Logger;
}

/** Consumes the partitions that the group assigns to this member. Before each rebalance, closes the consumers of all partitions. */
export function subscribe(deps: SubscribeDeps, options: ConsumeOptions): Subscription {
  const { groupLink, heartbeatLink, fetchLink, topic, groupId, logger } = deps;
  const fetcher = createKafkaFetcher(fetchLink, logger);
  let workers: PartitionWorker[] = [];

  const member = joinKafkaGroup({
    link: groupLink,
    heartbeatLink,
    topic,
    groupId,
    assigned,
    async revoked() {
      const stopping = workers;
      workers = [];
      for (const { source } of stopping) fetcher.remove(source);
      await Promise.all(stopping.map((worker) => worker.stop()));
    },
    onError: (error) => options.onError(error, undefined),
  });

  async function assigned(session: Session): Promise<void> {
    const { partitions, generationId } = session;
    logger.info({ topic: options.topic, group: options.group, partitions, generationId }, 'partitions assigned');
    if (partitions.length === 0) return;
    const committed = await member.committed(partitions);
    workers = partitions.map((partition) =>
      startPartitionWorker({
        options,
        topic: options.topic,
        fetchTopic: topic,
        partition,
        committed: committed.get(partition),
        commit: (commit: Commit) => member.commit(session, partition, commit),
        wake: fetcher.wake,
      }),
    );
    for (const { source } of workers) fetcher.add(source);
  }

  return {
    joined: member.joined,
    async close() {
      await member.close();
      fetcher.close();
      await Promise.all([groupLink.close(), heartbeatLink.close(), fetchLink.close()]);
    },
  };
}

import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@weir/runtime/logger';
import type { Broker, Cluster, Kafka } from 'kafkajs';
import { brokerErrorType } from './kafka-errors.ts';

/**
 * One set of connections to the brokers, made when needed and thrown away whole at the first failure of a transport: kafkajs's
 * connections do not survive a paused broker (a late `end()` of the old socket closes the new one).
 */
export interface KafkaLink {
  /** Connects where need be and does the work. Rejects with kafkajs's error, after which the next call connects anew. */
  run<T>(work: (cluster: Cluster) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export function createKafkaLink(kafka: Kafka, topics: readonly string[], logger: Logger): KafkaLink {
  let current: Promise<Cluster> | undefined;
  let closed = false;

  const leave = (cluster: Cluster): Promise<void> =>
    cluster
      .disconnect()
      .catch((error: unknown) => logger.debug({ err: error }, 'a connection to Kafka did not end well'));

  const connect = async (): Promise<Cluster> => {
    const cluster = newCluster(kafka);
    try {
      await cluster.connect();
      await (topics.length > 0 ? cluster.addMultipleTargetTopics([...topics]) : cluster.refreshMetadata());
      return cluster;
    } catch (error) {
      void leave(cluster);
      throw error;
    }
  };

  return {
    async run(work) {
      if (closed) throw new Error('the connection to Kafka was closed');
      current ??= connect();
      const mine = current;
      try {
        return await work(await mine);
      } catch (error) {
        if (current === mine && brokerErrorType(error) === undefined) {
          current = undefined;
          void mine.then(leave, () => undefined);
        }
        throw error;
      }
    },
    async close() {
      closed = true;
      const last = current;
      current = undefined;
      await last?.then(leave, () => undefined);
    },
  };
}

/** kafkajs hands its cluster (a public type) to partition assigners only: a consumer that never runs is the way to it. */
function newCluster(kafka: Kafka): Cluster {
  let found: Cluster | undefined;
  kafka.consumer({
    groupId: 'never-joined',
    allowAutoTopicCreation: false,
    metadataMaxAge: 60_000,
    partitionAssigners: [
      ({ cluster }) => {
        found = cluster;
        return {
          name: 'none',
          version: 0,
          assign: async () => [],
          protocol: () => ({ name: 'none', metadata: Buffer.alloc(0) }),
        };
      },
    ],
  });
  if (found === undefined) throw new TypeError('kafkajs no longer gives its cluster to partition assigners');
  return found;
}

const RETRY_PAUSE_MS = 100;

/** Reads again what failed, on fresh metadata: a leader that moved, a topic whose leader was chosen a moment ago. */
export async function runAgain<T>(
  link: KafkaLink,
  attempts: number,
  work: (cluster: Cluster) => Promise<T>,
): Promise<T> {
  for (let left = attempts - 1; ; left--) {
    try {
      return await link.run(async (cluster) => {
        if (left < attempts - 1) await cluster.refreshMetadata();
        return work(cluster);
      });
    } catch (error) {
      if (left <= 0) throw error;
      await pause(RETRY_PAUSE_MS);
    }
  }
}

/** The leader of a partition as last heard; `undefined` where there is none now. */
export function leaderOf(cluster: Cluster, topic: string, partition: number): number | undefined {
  const found = cluster.findTopicPartitionMetadata(topic).find(({ partitionId }) => partitionId === partition);
  return found === undefined || found.leader < 0 ? undefined : found.leader;
}

export function brokerOf(cluster: Cluster, nodeId: number): Promise<Broker> {
  return cluster.findBroker({ nodeId: String(nodeId) });
}

interface Pool {
  send(request: { readonly response: { readonly parse: unknown } }): Promise<unknown>;
}

/** The same broker, but a response in which one partition failed is returned, not thrown: the others' outcomes are in it. */
export function answeringPerPartition(broker: Broker): Broker {
  const pool = (broker as unknown as { readonly connectionPool: Pool }).connectionPool;
  const lenient = Object.create(pool) as Pool;
  lenient.send = (request) =>
    pool.send({ ...request, response: { ...request.response, parse: async (data: unknown) => data } });
  return Object.create(broker, { connectionPool: { value: lenient } }) as Broker;
}

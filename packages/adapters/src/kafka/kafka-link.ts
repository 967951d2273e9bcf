import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@weir/runtime/logger';
import type { Broker, Cluster } from 'kafkajs';
import { createKafka, type KafkaAddress, type KafkaTimeouts } from './kafka-client.ts';
import { createKafkaConnections, type KafkaConnections } from './kafka-connections.ts';
import { openingError, rootCause } from './kafka-errors.ts';
import {
  type BrokerPlace,
  type ClusterMetadata,
  createBroker,
  createCluster,
  hasConnection,
  metadataOf,
} from './kafkajs-private.ts';

/**
 * Connections to the brokers: one set for requests to the cluster, such as metadata requests, and one set for each broker to which `runOn` sends
 * requests. A transport failure replaces only the set on which it happened. So a failed broker does not disturb the work on other brokers.
 */
export interface KafkaLink {
  /** Runs `work` on the connections for requests to the cluster. Time limit and errors: `KafkaConnections.run` in kafka-connections.ts. */
  run<T>(work: (cluster: Cluster) => Promise<T>, patienceMs?: number): Promise<T>;
  /**
   * Runs `work` on the connections to one broker, in the same way. Do not call `runOn` within the `work` of `run`: a failure of this broker would
   * also replace the connections of `run`.
   */
  runOn<T>(place: BrokerPlace, work: (broker: Broker) => Promise<T>): Promise<T>;
  /**
   * Resolves with the leaders according to the last metadata. Waits only if no metadata were received yet. So a broker that does not answer metadata
   * requests does not delay the work on other brokers. Calls `refreshLeaders` if the metadata are older than a minute.
   */
  leaders(): Promise<Leaders>;
  /**
   * Requests new metadata, because a leader may have moved. Returns at once, so that work on the known leaders continues. Does nothing while such a
   * request is in progress and for 100 ms after it. So callers may call it at each attempt that finds no leader.
   */
  refreshLeaders(): void;
  close(): Promise<void>;
}

/** Returns the leader of a partition; `undefined` if it has none. */
export type Leaders = (topic: string, partition: number) => BrokerPlace | undefined;

export interface KafkaLinkOptions {
  readonly address: KafkaAddress;
  readonly timeouts: KafkaTimeouts;
  /** The topics for which metadata are requested. An empty list means all topics of the cluster. */
  readonly topics: readonly string[];
  /**
   * If true, the metadata omit topics that do not exist. If false (default), the metadata request and all work fail if one of the topics does not
   * exist.
   */
  readonly mayLackTopics?: boolean;
  readonly logger: Logger;
}

/** The connections to one broker, and the number of calls of `runOn` that use them. */
interface BrokerSet {
  readonly connections: KafkaConnections<Broker>;
  running: number;
}

const keyOf = ({ nodeId, host, port }: BrokerPlace) => `${nodeId} ${host}:${port}`;

const REFRESH_PAUSE_MS = 100;
/**
 * Metadata that are older than this are refreshed. The reason is a broker that cannot reach the controller: after its partitions got other leaders,
 * it still answers fetches without an error, but has no new records.
 */
const METADATA_AGE_MAX_MS = 60_000;

export function createKafkaLink(options: KafkaLinkOptions): KafkaLink {
  const { address, timeouts, topics, logger } = options;
  const { brokers } = address;
  /** The index of the broker to try first: the broker of the last successful connection, or, after a failure of this broker, the next one. */
  let seed = 0;
  const clusterConnections = createKafkaConnections({
    timeouts,
    logger,
    async connect(keep, ended) {
      const cluster = await connectToAny(keep, ended);
      await (topics.length > 0 ? cluster.addMultipleTargetTopics([...topics]) : cluster.refreshMetadata());
      return cluster;
    },
    onFailure(error) {
      if ((rootCause(error) as { readonly broker?: string }).broker === brokers[seed % brokers.length]) seed += 1;
    },
  });
  /** The keys contain node ID and address: after a broker has moved, running work can still use its former address. */
  const ofBrokers = new Map<string, BrokerSet>();
  /** Resolves when the sets of brokers that left the cluster are closed. */
  let removed: Promise<void> = Promise.resolve();
  /** The last metadata. They stay in use when the connections over which they were received fail. */
  let known: ClusterMetadata | undefined;
  /** The time of `performance.now()` at which `known` was received. */
  let knownAt = 0;
  let refreshing = false;
  let closed = false;

  /**
   * Connects to one broker after the other, each at most once, until one of them answers. kafkajs itself would try the next broker only if the
   * connection cannot be opened, but a broker that hangs, or a proxy in front of a dead broker, accepts connections. If all brokers fail, rejects
   * with the first error that a retry cannot repair, such as a wrong password. If there is none, rejects with the last error. Tries no other broker
   * after `ended` has aborted.
   */
  async function connectToAny(keep: (socket: Socket) => void, ended: AbortSignal): Promise<Cluster> {
    let refusal: unknown;
    for (let left = brokers.length; ; left--) {
      const first = seed % brokers.length;
      const inTurn = [...brokers.slice(first), ...brokers.slice(0, first)];
      const kafka = createKafka({ ...address, brokers: inTurn }, timeouts, logger, keep);
      const cluster = createCluster(kafka, { mayLackTopics: options.mayLackTopics ?? false });
      try {
        await cluster.connect();
        return cluster;
      } catch (error) {
        seed = first + 1;
        if (openingError(error).code === 'event_log_refused') refusal ??= error;
        if (left <= 1 || ended.aborted) throw refusal ?? error;
      }
    }
  }

  function setTo(place: BrokerPlace): BrokerSet {
    if (closed) throw new Error('the connection to Kafka was closed');
    const key = keyOf(place);
    const found = ofBrokers.get(key);
    if (found !== undefined) return found;
    const connections = createKafkaConnections({
      timeouts,
      logger,
      async connect(keep) {
        const broker = await createBroker(createKafka(address, timeouts, logger, keep), place);
        await broker.connect();
        return broker;
      },
      // A broker closes connections that are idle for some minutes. They are then replaced before the next use.
      isUsable: hasConnection,
    });
    const set = { connections, running: 0 };
    ofBrokers.set(key, set);
    return set;
  }

  /**
   * Stores new metadata, and closes the sets of brokers that are not in it. Does not close a set that is in use, because a broker can be missing
   * from the metadata for a short time.
   */
  function learn(found: ClusterMetadata | undefined): void {
    if (found === undefined || found === known) return;
    known = found;
    knownAt = performance.now();
    const present = new Set(found.brokers.map(keyOf));
    for (const [key, { connections, running }] of ofBrokers) {
      if (present.has(key) || running > 0) continue;
      ofBrokers.delete(key);
      const closing = connections.close();
      removed = removed.then(() => closing);
    }
  }

  function run<T>(work: (cluster: Cluster) => Promise<T>, patienceMs?: number): Promise<T> {
    return clusterConnections.run(async (cluster) => {
      try {
        return await work(cluster);
      } finally {
        learn(metadataOf(cluster));
      }
    }, patienceMs);
  }

  async function refresh(): Promise<void> {
    refreshing = true;
    await run((cluster) => cluster.refreshMetadata()).catch((error: unknown) =>
      logger.debug({ err: rootCause(error) }, 'no new metadata of Kafka'),
    );
    await pause(REFRESH_PAUSE_MS, undefined, { ref: false });
    refreshing = false;
  }

  function refreshLeaders(): void {
    if (!refreshing && !closed) void refresh();
  }

  return {
    run,
    async leaders() {
      if (known === undefined) await run(async () => undefined);
      if (performance.now() > knownAt + METADATA_AGE_MAX_MS) refreshLeaders();
      return leadersIn(known);
    },
    async runOn(place, work) {
      const set = setTo(place);
      set.running += 1;
      try {
        return await set.connections.run(async (broker) => {
          // With SASL, `isConnected` is false from 10 s before the end of the session. `connect` then authenticates again, over the same connection.
          if (!broker.isConnected()) await broker.connect();
          return work(broker);
        });
      } finally {
        set.running -= 1;
      }
    },
    refreshLeaders,
    async close() {
      closed = true;
      const all = [clusterConnections, ...[...ofBrokers.values()].map(({ connections }) => connections)];
      await Promise.all([...all.map((connections) => connections.close()), removed]);
    },
  };
}

const RETRY_PAUSE_MS = 100;

/**
 * Runs `work` on the connections to the broker that `find` returns. After a failure, retries `find` and `work` with new metadata, because a
 * coordinator may have moved or may just have been elected.
 */
export function withRetry<T>(
  link: KafkaLink,
  attempts: number,
  find: (cluster: Cluster) => Promise<BrokerPlace>,
  work: (broker: Broker) => Promise<T>,
): Promise<T> {
  return retried(attempts, async (isRepeated) => {
    const place = await link.run(async (cluster) => {
      if (isRepeated) await cluster.refreshMetadata();
      return find(cluster);
    });
    return link.runOn(place, work);
  });
}

/** Calls `attempt` until it succeeds, at most `attempts` times, with pauses of 100 ms. Rejects with the last error. */
export async function retried<T>(attempts: number, attempt: (isRepeated: boolean) => Promise<T>): Promise<T> {
  for (let left = attempts - 1; ; left--) {
    try {
      return await attempt(left < attempts - 1);
    } catch (error) {
      if (left <= 0) throw error;
      await pause(RETRY_PAUSE_MS);
    }
  }
}

/** The leader of a partition according to the last metadata; `undefined` if it has none. */
export function leaderOf(cluster: Cluster, topic: string, partition: number): BrokerPlace | undefined {
  return leadersIn(metadataOf(cluster))(topic, partition);
}

function leadersIn(metadata: ClusterMetadata | undefined): Leaders {
  return (topic, partition) => {
    const partitions = metadata?.topicMetadata.find((one) => one.topic === topic)?.partitionMetadata;
    const found = partitions?.find(({ partitionId }) => partitionId === partition);
    return found && metadata?.brokers.find(({ nodeId }) => nodeId === found.leader);
  };
}

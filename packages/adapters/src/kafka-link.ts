import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@weir/runtime/logger';
import type { Broker, Cluster, Kafka } from 'kafkajs';
import { connectToAny, createKafka, type KafkaAddress, type KafkaTimeouts } from './kafka-client.ts';
import { brokerErrorType, rootCause } from './kafka-errors.ts';

/**
 * One set of connections to the brokers, made when needed and thrown away whole at the first failure of a transport: kafkajs's
 * connections do not survive a paused broker (a late `end()` of the old socket closes the new one).
 */
export interface KafkaLink {
  /**
   * Connects where need be and does the work; `patienceMs`: how much longer than usual it may take. Rejects with kafkajs's
   * error, after which the next call connects anew, and always in the end.
   */
  run<T>(work: (cluster: Cluster) => Promise<T>, patienceMs?: number): Promise<T>;
  close(): Promise<void>;
}

export interface KafkaLinkOptions {
  readonly address: KafkaAddress;
  readonly timeouts: KafkaTimeouts;
  /** The metadata are of these alone; empty: of the whole cluster. */
  readonly topics: readonly string[];
  /** A topic that is not there is left out of the metadata. Default: it fails them, and with them all work. */
  readonly mayLackTopics?: boolean;
  readonly logger: Logger;
}

/** How long connections that are thrown away may still answer: other brokers than the one that failed. */
const LAST_ANSWERS_MS = 300;

interface Connections {
  readonly cluster: Promise<Cluster>;
  readonly sockets: ReadonlySet<Socket>;
  /** What goes on, to be ended: kafkajs leaves requests pending for ever when a broker ends a connection that is being left. */
  readonly running: Set<() => void>;
}

export function createKafkaLink(options: KafkaLinkOptions): KafkaLink {
  const { address, timeouts, topics, logger } = options;
  const connectWithinMs = 2 * timeouts.connectionTimeoutMs + timeouts.requestTimeoutMs;
  const workWithinMs = 2 * timeouts.requestTimeoutMs;
  let current: Connections | undefined;
  let closed = false;

  function open(): Connections {
    const sockets = new Set<Socket>();
    const keep = (socket: Socket): void => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    };
    const cluster = newCluster(createKafka(address, timeouts, logger, keep));
    readEachPartition(cluster, options.mayLackTopics ?? false);
    const connect = async (): Promise<Cluster> => {
      await connectToAny(address, () => cluster.connect());
      await (topics.length > 0 ? cluster.addMultipleTargetTopics([...topics]) : cluster.refreshMetadata());
      return cluster;
    };
    const connections = { cluster: connect(), sockets, running: new Set<() => void>() };
    // Whatever it was, a broker's own word included: kept, they would fail all work that is to come.
    connections.cluster.catch(() => {
      if (current === connections) void drop(connections);
    });
    return connections;
  }

  /** Resolves when nothing of it is left. */
  async function leave({ cluster, sockets, running }: Connections): Promise<void> {
    const left = cluster
      .then((connected) => connected.disconnect())
      .catch((error: unknown) => logger.debug({ err: rootCause(error) }, 'a connection to Kafka did not end well'));
    const answered = new AbortController();
    await Promise.race([left, pause(LAST_ANSWERS_MS, undefined, { signal: answered.signal }).catch(() => undefined)]);
    answered.abort();
    for (const socket of sockets) socket.destroy(new Error('left'));
    for (const end of running) end();
  }

  function drop(connections: Connections): Promise<void> {
    if (current === connections) current = undefined;
    return leave(connections);
  }

  return {
    async run(work, patienceMs = 0) {
      if (closed) throw new Error('the connection to Kafka was closed');
      current ??= open();
      const mine = current;
      try {
        return await endingBy(mine, work, connectWithinMs + workWithinMs + patienceMs);
      } catch (error) {
        if (current === mine && brokerErrorType(error) === undefined) void drop(mine);
        throw error;
      }
    },
    async close() {
      closed = true;
      if (current !== undefined) await drop(current);
    },
  };
}

/** The work's own end; else a rejection after `withinMs`, or when the connections are given up. */
function endingBy<T>(connections: Connections, work: (cluster: Cluster) => Promise<T>, withinMs: number): Promise<T> {
  const { cluster, running } = connections;
  return new Promise<T>((resolve, reject) => {
    const over = (): void => {
      clearTimeout(timer);
      running.delete(end);
    };
    const end = (): void => {
      over();
      reject(new Error('the connection to Kafka was given up'));
    };
    const timer = setTimeout(end, withinMs);
    running.add(end);
    // Not begun late: whoever was told that it was given up may have done it again by now, and more since.
    const begin = (connected: Cluster) => (running.has(end) ? work(connected) : Promise.reject(new Error('given up')));
    cluster.then(begin).then(resolve, reject).finally(over);
  });
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

interface Metadata {
  readonly topicMetadata: readonly {
    readonly topicErrorCode: number;
    readonly partitionMetadata: readonly { readonly partitionErrorCode: number }[];
  }[];
}

const UNKNOWN_TOPIC_OR_PARTITION = 3;

/**
 * kafkajs fails all of the metadata where one partition has no leader, and with them what the others could do. Here such a
 * partition is among them, with a leader below 0.
 */
function readEachPartition(cluster: Cluster, mayLackTopics: boolean): void {
  const { brokerPool } = cluster as unknown as { readonly brokerPool: { createBroker(options: object): Broker } };
  const { createBroker } = brokerPool;
  const forgive = (data: Metadata): Metadata => ({
    ...data,
    topicMetadata: data.topicMetadata
      .filter(({ topicErrorCode }) => !mayLackTopics || topicErrorCode !== UNKNOWN_TOPIC_OR_PARTITION)
      .map((topic) => ({
        ...topic,
        partitionMetadata: topic.partitionMetadata.map((partition) => ({ ...partition, partitionErrorCode: 0 })),
      })),
  });
  brokerPool.createBroker = (options) => {
    const broker = createBroker(options);
    const { metadata } = broker;
    broker.metadata = (topics) =>
      metadata.call(
        answering(broker, (data, parse) => parse(forgive(data as Metadata))),
        topics,
      );
    return broker;
  };
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

type Parse = (data: unknown) => Promise<unknown>;
interface Pool {
  send(request: { readonly request: object; readonly response: { readonly parse: Parse } }): Promise<unknown>;
}

/**
 * The same broker, but a response in which one partition failed is returned, not thrown: the others' outcomes are in it.
 * `payload`: sent in place of what kafkajs would make of the request.
 */
export function answeringPerPartition(broker: Broker, payload?: Buffer): Broker {
  return answering(broker, async (data) => data, payload);
}

/** The same broker, but `read` is given each response, and kafkajs's way of parsing it. */
function answering(broker: Broker, read: (data: unknown, parse: Parse) => Promise<unknown>, payload?: Buffer): Broker {
  const pool = (broker as unknown as { readonly connectionPool: Pool }).connectionPool;
  const own = payload === undefined ? {} : { encode: async () => ({ buf: payload, buffer: payload }) };
  const lenient = Object.create(pool) as Pool;
  lenient.send = ({ request, response, ...rest }) =>
    pool.send({
      ...rest,
      request: { ...request, ...own },
      response: { ...response, parse: (data) => read(data, response.parse) },
    });
  return Object.create(broker, { connectionPool: { value: lenient } }) as Broker;
}

import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@weir/runtime/logger';
import type { Broker, Cluster } from 'kafkajs';
import { createKafka, type KafkaAddress, type KafkaTimeouts, resetSocket } from './kafka-client.ts';
import { brokerErrorType, openingError, rootCause } from './kafka-errors.ts';
import { createCluster } from './kafkajs-private.ts';

/**
 * One set of connections to the brokers. It is opened at the first use, and replaced as a whole after the first transport
 * failure: kafkajs's connections do not survive a paused broker (a late `end()` of the old socket closes the new one).
 */
export interface KafkaLink {
  /**
   * Connects if necessary and runs `work`. `patienceMs` extends the usual time limit. Rejects with kafkajs's error, or when the
   * time is over. After a transport error the next call opens new connections.
   */
  run<T>(work: (cluster: Cluster) => Promise<T>, patienceMs?: number): Promise<T>;
  close(): Promise<void>;
}

export interface KafkaLinkOptions {
  readonly address: KafkaAddress;
  readonly timeouts: KafkaTimeouts;
  /** The topics for which metadata are requested. If the list is empty, they are requested for the whole cluster. */
  readonly topics: readonly string[];
  /**
   * If true, topics that do not exist are left out of the metadata. If false (default), they make the metadata request and all
   * work fail.
   */
  readonly mayLackTopics?: boolean;
  readonly logger: Logger;
}

/** Abandoned connections may still receive responses for this time, because perhaps only one of several brokers has failed. */
const LAST_ANSWERS_MS = 300;

interface Connections {
  readonly cluster: Promise<Cluster>;
  readonly sockets: ReadonlySet<Socket>;
  /** Functions that reject the running work: kafkajs never settles requests on a connection that the broker closes meanwhile. */
  readonly running: Set<() => void>;
  /** Aborts when all sockets are destroyed. No socket is opened after that. */
  readonly ended: AbortController;
}

export function createKafkaLink(options: KafkaLinkOptions): KafkaLink {
  const { address, timeouts, topics, logger } = options;
  const connectWithinMs = 2 * timeouts.connectionTimeoutMs + timeouts.requestTimeoutMs;
  const workWithinMs = 2 * timeouts.requestTimeoutMs;
  let current: Connections | undefined;
  let closed = false;
  /** The index of the broker to connect to first: the one to which the last connection succeeded. */
  let seed = 0;

  /**
   * Connects to one broker after the other, each at most once, until one of them answers. kafkajs itself would try the next broker only if the
   * connection cannot be opened. A broker that hangs, and a proxy in front of a dead broker, still accept connections. If all of them fail, rejects
   * with the first error that a retry cannot repair, such as a wrong password, and otherwise with the last error. Tries no other broker after
   * `ended` has aborted.
   */
  async function connectToAny(keep: (socket: Socket) => void, ended: AbortSignal): Promise<Cluster> {
    const { brokers } = address;
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

  function open(): Connections {
    const sockets = new Set<Socket>();
    const ended = new AbortController();
    const keep = (socket: Socket): void => {
      // Work can go on after its connections were abandoned, and kafkajs then opens a new one.
      if (ended.signal.aborted) socket.destroy(abandoned());
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    };
    const connect = async (): Promise<Cluster> => {
      const cluster = await connectToAny(keep, ended.signal);
      await (topics.length > 0 ? cluster.addMultipleTargetTopics([...topics]) : cluster.refreshMetadata());
      return cluster;
    };
    const connections = { cluster: connect(), sockets, running: new Set<() => void>(), ended };
    // If connecting fails, also with an error response of a broker, the connections are dropped: otherwise all later work would fail too.
    connections.cluster.catch(() => {
      if (current === connections) void drop(connections);
    });
    return connections;
  }

  /** Closes connections. Resolves when all of their sockets are closed and all work on them has ended. */
  async function leave({ cluster, sockets, running, ended }: Connections): Promise<void> {
    const left = cluster
      .then((connected) => connected.disconnect())
      .catch((error: unknown) => logger.debug({ err: rootCause(error) }, 'closing a connection to Kafka failed'));
    const answered = new AbortController();
    await Promise.race([left, pause(LAST_ANSWERS_MS, undefined, { signal: answered.signal }).catch(() => undefined)]);
    answered.abort();
    ended.abort();
    for (const socket of sockets) resetSocket(socket, abandoned());
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
        return await withDeadline(mine, work, connectWithinMs + workWithinMs + patienceMs);
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

const abandoned = (): Error => new Error('the connection to Kafka was abandoned');

/** Settles like `work`, but rejects after `withinMs` or when the connections are abandoned. */
function withDeadline<T>(
  connections: Connections,
  work: (cluster: Cluster) => Promise<T>,
  withinMs: number,
): Promise<T> {
  const { cluster, running } = connections;
  return new Promise<T>((resolve, reject) => {
    const over = (): void => {
      clearTimeout(timer);
      running.delete(end);
    };
    const end = (): void => {
      over();
      reject(abandoned());
    };
    const timer = setTimeout(end, withinMs);
    running.add(end);
    // Work that was already rejected must not begin, because the caller may have repeated it meanwhile.
    const begin = (connected: Cluster) => (running.has(end) ? work(connected) : Promise.reject(new Error('abandoned')));
    cluster.then(begin).then(resolve, reject).finally(over);
  });
}

const RETRY_PAUSE_MS = 100;

/** Retries a read with fresh metadata, because a leader may have moved or may just have been elected. */
export async function withRetry<T>(
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

/** The leader of a partition according to the last metadata; `undefined` if it has none. */
export function leaderOf(cluster: Cluster, topic: string, partition: number): number | undefined {
  const found = cluster.findTopicPartitionMetadata(topic).find(({ partitionId }) => partitionId === partition);
  return found === undefined || found.leader < 0 ? undefined : found.leader;
}

export function brokerOf(cluster: Cluster, nodeId: number): Promise<Broker> {
  return cluster.findBroker({ nodeId: String(nodeId) });
}

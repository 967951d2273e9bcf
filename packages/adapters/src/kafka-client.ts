import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { Logger } from '@weir/runtime/logger';
import { type ISocketFactory, Kafka, logLevel, type SASLOptions } from 'kafkajs';

export interface KafkaAddress {
  /** `host:port` each. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  /** `true`: TLS with the system's certificates. */
  readonly tls?: boolean | ConnectionOptions;
  readonly sasl?: SASLOptions;
}

export interface KafkaTimeouts {
  readonly connectionTimeoutMs: number;
  readonly requestTimeoutMs: number;
}

/** What waits for a caller: a request that hangs is given up soon enough to say so within 2 s. */
export const FAIL_FAST: KafkaTimeouts = { connectionTimeoutMs: 500, requestTimeoutMs: 1500 };
/** What works in the background: patience costs nobody anything. */
export const PATIENT: KafkaTimeouts = { connectionTimeoutMs: 1000, requestTimeoutMs: 5000 };

/**
 * kafkajs repeats nothing by itself: what may be repeated, and for how long, is decided above it. `onSocket` is given each
 * socket, to be destroyed where kafkajs would wait for ever.
 */
export function createKafka(
  address: KafkaAddress,
  timeouts: KafkaTimeouts,
  logger: Logger,
  onSocket: (socket: Socket) => void = () => undefined,
): Kafka {
  return new Kafka({
    brokers: [...address.brokers],
    clientId: address.clientId,
    ...(address.tls === undefined ? {} : { ssl: address.tls }),
    ...(address.sasl === undefined ? {} : { sasl: address.sasl }),
    connectionTimeout: timeouts.connectionTimeoutMs,
    authenticationTimeout: timeouts.requestTimeoutMs,
    requestTimeout: timeouts.requestTimeoutMs,
    enforceRequestTimeout: true,
    retry: { retries: 0 },
    socketFactory(place) {
      const socket = openSocket(place);
      onSocket(socket);
      return socket;
    },
    logLevel: logLevel.ERROR,
    // Every failure reaches a caller as an outcome or an error; kafkajs's own lines are for whoever debugs it.
    logCreator: () => (entry) => logger.debug({ kafkajs: entry.log.message, namespace: entry.namespace }, 'kafkajs'),
  });
}

/** kafkajs tries one of the brokers at a time, and the next one at the next call. Rejects when none of them answers. */
export async function connectToAny(address: KafkaAddress, connect: () => Promise<void>): Promise<void> {
  for (let left = address.brokers.length; ; left -= 1) {
    try {
      return await connect();
    } catch (error) {
      if (left <= 1) throw error;
    }
  }
}

/** kafkajs's own leaves Nagle's algorithm on. */
const openSocket: ISocketFactory = ({ host, port, ssl, onConnect }) => {
  const socket = ssl
    ? connectTls({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}), ...ssl }, onConnect)
    : connectTcp({ host, port }, onConnect);
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 60_000);
  return socket;
};

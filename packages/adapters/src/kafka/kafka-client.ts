import { isIP, Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { Logger } from '@weir/runtime/logger';
import { type ISocketFactory, Kafka, logLevel, type SASLOptions } from 'kafkajs';

export interface KafkaAddress {
  /** Each entry is `host:port`. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  /** `true` means TLS with the system's certificates. */
  readonly tls?: boolean | ConnectionOptions;
  readonly sasl?: SASLOptions;
}

export interface KafkaTimeouts {
  readonly connectionTimeoutMs: number;
  readonly requestTimeoutMs: number;
}

/**
 * The timeouts of appends that an HTTP client waits for, and of queries such as `positions` and `ping`. They are shorter than the deadline of
 * these appends (`APPEND_DEADLINE_MS` in kafka-event-log.ts): the gateway must be able to answer 503 within 2 s, even if no broker responds.
 */
export const FAIL_FAST: KafkaTimeouts = { connectionTimeoutMs: 500, requestTimeoutMs: 1500 };
/** The timeouts of all other requests, such as reads of records and the appends of the enricher. */
export const PATIENT: KafkaTimeouts = { connectionTimeoutMs: 1000, requestTimeoutMs: 5000 };

/**
 * Creates a kafkajs client that does not retry. The callers decide which requests may be repeated, and for how long. `onSocket` receives each
 * socket, so that the caller can destroy a socket on which kafkajs would wait forever.
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
    // Callers get each failure as an outcome or an error, so kafkajs's own log lines are only needed for debugging.
    logCreator: () => (entry) => logger.debug({ kafkajs: entry.log.message, namespace: entry.namespace }, 'kafkajs'),
  });
}

/**
 * Opens a socket without Nagle's algorithm, which kafkajs's own socket factory leaves on. kafkajs calls `end` after all requests of a connection
 * have been answered or have failed. Here, `end` resets the connection instead of a normal close (reason: `resetSocket`).
 */
const openSocket: ISocketFactory = ({ host, port, ssl, onConnect }) => {
  const tcp = new Socket();
  tcp.setNoDelay(true);
  tcp.setKeepAlive(true, 60_000);
  // `servername` must not be an IP address. Without `servername`, Node compares the certificate with `host`.
  const names = isIP(host) === 0 ? { host, servername: host } : { host };
  const socket = ssl ? overTls(tcp, { ...names, ...ssl }, onConnect) : tcp;
  // `connect` is called after `overTls`: Node 20 to 26 crash if TLS is added to a connecting socket that must then try a second address of the host.
  tcp.connect({ host, port }, ssl ? undefined : onConnect);
  socket.end = () => {
    resetSocket(socket);
    return socket;
  };
  return socket;
};

/**
 * Returns a TLS socket over `tcp` whose `resetAndDestroy` resets the TCP connection. For a TLS socket that opens its TCP connection itself,
 * Node does not support `resetAndDestroy`.
 */
function overTls(tcp: Socket, options: ConnectionOptions, onConnect: () => void): Socket {
  const secure = connectTls({ ...options, socket: tcp }, onConnect);
  secure.resetAndDestroy = () => {
    tcp.resetAndDestroy();
    return secure.destroy();
  };
  return secure;
}

/**
 * Destroys a socket and resets its connection. After a normal close, Linux continues for about 100 s to send bytes that were written but not
 * acknowledged. A request with an unknown result could then arrive after its repetition. The socket emits `error`, if it is given, so that kafkajs
 * rejects pending requests.
 */
export function resetSocket(socket: Socket, error?: Error): void {
  // On a socket that is still connecting, `resetAndDestroy` would wait until the socket is connected.
  if (socket.connecting || socket.destroyed) {
    socket.destroy(error);
    return;
  }
  socket.resetAndDestroy();
  if (error !== undefined) socket.emit('error', error);
}

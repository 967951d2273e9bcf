import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from '@weir/runtime/logger';
import { type KafkaTimeouts, resetSocket } from './kafka-client.ts';
import { brokerErrorType, rootCause } from './kafka-errors.ts';

/**
 * A set of connections that is opened at the first use. After the first transport failure, all of them are replaced: kafkajs cannot reconnect to a
 * broker that was paused, because a late `end()` of the old socket closes the new one.
 */
export interface KafkaConnections<T> {
  /**
   * Connects if necessary and runs `work`. Rejects with kafkajs's error, or after a time limit: twice the connection timeout plus three times
   * the request timeout (`timeouts`) plus `patienceMs`. After a transport error, the next call opens new connections.
   */
  run<R>(work: (opened: T) => Promise<R>, patienceMs?: number): Promise<R>;
  /** Resolves when all sockets are closed, also those of connections that were replaced. */
  close(): Promise<void>;
}

export interface KafkaConnectionsOptions<T> {
  /** Connects. Must pass each socket to `keep`, and must not try another broker after `ended` has aborted. */
  readonly connect: (keep: (socket: Socket) => void, ended: AbortSignal) => Promise<T>;
  /** Returns false if these connections must be replaced before the next use. Default: true. */
  readonly isUsable?: (opened: T) => boolean;
  /** Called with each error after which connections are replaced. */
  readonly onFailure?: (error: unknown) => void;
  readonly timeouts: KafkaTimeouts;
  readonly logger: Logger;
}

/** Replaced connections are destroyed after at most this time. Until then, other requests on them may still be answered. */
const LAST_ANSWERS_MS = 300;

interface Opened<T> {
  readonly opening: Promise<T>;
  ready?: T;
  readonly sockets: ReadonlySet<Socket>;
  /** Functions that reject the running work. They are needed because kafkajs never settles requests on a connection that the broker closes. */
  readonly running: Set<() => void>;
  /** Aborts when all sockets are destroyed. No socket is opened after that. */
  readonly ended: AbortController;
}

export function createKafkaConnections<T extends { disconnect(): Promise<void> }>(
  options: KafkaConnectionsOptions<T>,
): KafkaConnections<T> {
  const { connect, isUsable = () => true, onFailure, timeouts, logger } = options;
  const connectWithinMs = 2 * timeouts.connectionTimeoutMs + timeouts.requestTimeoutMs;
  const workWithinMs = 2 * timeouts.requestTimeoutMs;
  let current: Opened<T> | undefined;
  /** Resolves when all replaced connections are closed. */
  let left: Promise<void> = Promise.resolve();
  let closed = false;

  function open(): Opened<T> {
    const sockets = new Set<Socket>();
    const ended = new AbortController();
    const keep = (socket: Socket): void => {
      // Work can continue after its connections were abandoned. kafkajs then opens another connection, which must be destroyed.
      if (ended.signal.aborted) socket.destroy(abandoned());
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    };
    const opening = connect(keep, ended.signal);
    const opened: Opened<T> = { opening, sockets, running: new Set(), ended };
    // If `connect` fails, the connections are dropped here: otherwise all later work would fail too. `run` does not drop them if the failure is an
    // error response of a broker.
    opening.then(
      (ready) => {
        opened.ready = ready;
      },
      () => {
        if (current === opened) drop(opened);
      },
    );
    return opened;
  }

  /** Closes connections. Resolves when all of their sockets are closed and all work on them has ended. */
  async function leave({ opening, sockets, running, ended }: Opened<T>): Promise<void> {
    const disconnected = opening
      .then((ready) => ready.disconnect())
      .catch((error: unknown) => logger.debug({ err: rootCause(error) }, 'closing a connection to Kafka failed'));
    const answered = new AbortController();
    await Promise.race([
      disconnected,
      pause(LAST_ANSWERS_MS, undefined, { signal: answered.signal }).catch(() => undefined),
    ]);
    answered.abort();
    ended.abort();
    for (const socket of sockets) resetSocket(socket, abandoned());
    for (const end of running) end();
  }

  function drop(opened: Opened<T>): void {
    if (current === opened) current = undefined;
    const leaving = leave(opened);
    left = left.then(() => leaving);
  }

  return {
    async run(work, patienceMs = 0) {
      if (closed) throw new Error('the connection to Kafka was closed');
      if (current?.ready !== undefined && !isUsable(current.ready)) drop(current);
      current ??= open();
      const mine = current;
      try {
        return await withDeadline(mine, work, connectWithinMs + workWithinMs + patienceMs);
      } catch (error) {
        if (current === mine && brokerErrorType(error) === undefined) {
          onFailure?.(error);
          drop(mine);
        }
        throw error;
      }
    },
    async close() {
      closed = true;
      if (current !== undefined) drop(current);
      await left;
    },
  };
}

const abandoned = (): Error => new Error('the connection to Kafka was abandoned');

/** Settles like `work`, but rejects after `withinMs` or when the connections are abandoned. */
function withDeadline<T, R>(
  { opening, running }: Opened<T>,
  work: (opened: T) => Promise<R>,
  withinMs: number,
): Promise<R> {
  return new Promise<R>((resolve, reject) => {
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
    // If the promise was already rejected, `work` must not begin: the caller may have repeated it meanwhile.
    const begin = (ready: T) => (running.has(end) ? work(ready) : Promise.reject(new Error('abandoned')));
    opening.then(begin).then(resolve, reject).finally(over);
  });
}

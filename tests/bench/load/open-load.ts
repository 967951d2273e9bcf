import { connect, type Socket } from 'node:net';
import type { RequestMaker } from './load-requests.ts';
import { startSchedule } from './send-schedule.ts';

export interface OpenLoadTask {
  readonly port: number;
  readonly perSecond: number;
  readonly status: number;
  readonly make: RequestMaker;
  /** Sends each request within microseconds of its planned time, and keeps one core busy. Default: false, up to about 1 ms late. */
  readonly precise?: boolean;
}

export interface OpenLoad {
  /**
   * The latencies since the last call, in ascending order. A latency is the time in milliseconds from the planned time of a request to its
   * answer.
   */
  takeLatencies(): Float64Array;
  answered(): number;
  /** Rejects when an answer has an unexpected status, or when the server is stuck. Then no more requests are sent. Never resolves. */
  readonly failed: Promise<never>;
  /** Sends no more requests. Resolves when every request has its answer. Rejects with the same error as `failed`. */
  stop(): Promise<void>;
}

/** The maximum number of connections, and therefore of requests without an answer. If more are needed, the server is stuck. */
const CONNECTIONS_MAX = 512;

/**
 * Sends requests at a fixed rate and does not wait for earlier answers (open loop). Therefore a slow answer does not hide the waiting time of the
 * requests behind it. Each connection carries one request at a time.
 */
export function startOpenLoad({ port, perSecond, status, make, precise = false }: OpenLoadTask): OpenLoad {
  let idle: Socket[] = [];
  const all = new Set<Socket>();
  let latencies: number[] = [];
  let answered = 0;
  let failure: Error | undefined;
  let reject: (reason: Error) => void = () => undefined;
  const failed = new Promise<never>((_, rejectWith) => {
    reject = rejectWith;
  });
  // `stop` rejects with the same error, so a caller may ignore `failed`.
  failed.catch(() => undefined);
  const fail = (reason: Error): void => {
    schedule.stop();
    failure ??= reason;
    reject(failure);
  };

  /** `isRepeat`: the request is sent again, because the server closed its reused connection without an answer. */
  function send(n: number, plannedAt: number, isRepeat = false): void {
    const reused = isRepeat ? undefined : idle.pop();
    const socket = reused ?? newSocket();
    let answer = '';
    const lose = (): void => {
      if (failure !== undefined) return;
      if (reused !== undefined && answer === '') send(n, plannedAt, true);
      else fail(new Error('the server closed a connection before it answered'));
    };
    const receive = (chunk: Buffer): void => {
      answer += chunk.toString('latin1');
      if (!answer.includes('\r\n\r\n')) return;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(answer)?.[1] ?? '0');
      if (answer.length < answer.indexOf('\r\n\r\n') + 4 + length) return;
      socket.off('data', receive);
      socket.off('close', lose);
      if (!answer.startsWith(`HTTP/1.1 ${status} `)) fail(new Error(`unexpected answer: ${answer.slice(0, 200)}`));
      latencies.push(performance.now() - plannedAt);
      answered++;
      idle.push(socket);
    };
    socket.on('data', receive);
    socket.on('close', lose);
    socket.write(make(n));
  }

  function newSocket(): Socket {
    if (all.size === CONNECTIONS_MAX) throw new Error(`${CONNECTIONS_MAX} requests wait for their answers`);
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    // The event `close` follows each error. The listener `lose` then handles the request without an answer.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      all.delete(socket);
      idle = idle.filter((other) => other !== socket);
    });
    all.add(socket);
    return socket;
  }

  const schedule = startSchedule({ perSecond, precise, clock: () => performance.now() }, (n, plannedAt) => {
    try {
      send(n, plannedAt);
    } catch (error) {
      fail(error as Error);
    }
  });

  return {
    takeLatencies() {
      const taken = Float64Array.from(latencies).sort();
      latencies = [];
      return taken;
    },
    answered: () => answered,
    failed,
    async stop() {
      schedule.stop();
      while (answered < schedule.sent() && failure === undefined)
        await new Promise((resolve) => setTimeout(resolve, 10));
      for (const socket of all) socket.destroy();
      if (failure !== undefined) throw failure;
    },
  };
}

import { connect, type Socket } from 'node:net';
import type { RequestMaker } from './load-requests.ts';

export interface LoadTask {
  readonly port: number;
  readonly connections: number;
  readonly requests: number;
  readonly status: number;
  readonly make: RequestMaker;
}

export interface LoadResult {
  /** The time of the first request, as a value of `performance.now()`. */
  readonly startedAtMs: number;
  readonly seconds: number;
  /** The latency of each request, in ascending order. */
  readonly latenciesMs: Float64Array;
}

/**
 * Sends requests over persistent connections. Each connection sends its next request when the answer to the last one has arrived. Rejects if an
 * answer has another status than `task.status`. The load runs on the same machine as the measured server, so it uses plain sockets, which need less
 * CPU than an HTTP client.
 */
export async function sendLoad(task: LoadTask): Promise<LoadResult> {
  const latenciesMs = new Float64Array(task.requests);
  let sent = 0;
  const sockets = await Promise.all(Array.from({ length: task.connections }, () => open(task.port)));
  const startedAtMs = performance.now();
  try {
    await Promise.all(
      sockets.map((socket) => keepAsking(socket, task, () => (sent < task.requests ? sent++ : undefined), latenciesMs)),
    );
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  const seconds = (performance.now() - startedAtMs) / 1000;
  return { startedAtMs, seconds, latenciesMs: latenciesMs.sort() };
}

export function percentile(rising: Float64Array, share: number): number {
  return rising[Math.min(rising.length - 1, Math.floor(rising.length * share))] ?? Number.NaN;
}

function keepAsking(
  socket: Socket,
  { make, status }: LoadTask,
  take: () => number | undefined,
  latenciesMs: Float64Array,
): Promise<void> {
  const expected = `HTTP/1.1 ${status} `;
  return new Promise((resolve, reject) => {
    let n = 0;
    let askedAt = 0;
    let answer = '';
    const ask = (): void => {
      const next = take();
      if (next === undefined) {
        resolve();
        return;
      }
      n = next;
      const request = make(n);
      askedAt = performance.now();
      socket.write(request);
    };
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('latin1');
      if (!isWhole(answer)) return;
      latenciesMs[n] = performance.now() - askedAt;
      if (!answer.startsWith(expected)) return reject(new Error(`expected ${status}, got ${answer.slice(0, 400)}`));
      answer = '';
      ask();
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the connection was closed')));
    ask();
  });
}

function isWhole(answer: string): boolean {
  const headEnd = answer.indexOf('\r\n\r\n');
  if (headEnd < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(answer)?.[1] ?? '0';
  return answer.length >= headEnd + 4 + Number(length);
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true }, () => resolve(socket));
    socket.once('error', reject);
  });
}

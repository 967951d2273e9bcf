import { setMaxListeners } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { keptConnection, openSocket, sendHttp } from '@weir/testkit/http-client';
import { HOSTILE_KINDS, type HostileKind, type HostileTarget } from './hostile-requests.ts';

export interface HostileTraffic {
  /** The number of requests for each kind and answer. The answer is an HTTP status, or `none` if no answer came. */
  readonly answers: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** Answers that no caller should get: a 5xx other than a 503 with `Retry-After`. At most 20 are kept. */
  readonly strange: readonly string[];
  /** Resolves when each client has its last answer. */
  stop(): Promise<void>;
}

const IDLE_CONNECTIONS = 300;
const SLOW_BODIES = 50;
const UNREAD_ANSWERS = 20;
const SLOW_PIECE_MS = 500;
const TIMEOUT_MS = 60_000;
const STRANGE_MAX = 20;
const SLOW_HEAD =
  'POST /api/collect HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n{"site_id":"';
const UNREAD_HEAD = 'GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(100);

/** Starts one client for each kind of hostile request. Also opens connections that are idle, that send slowly, or that do not read their answers. */
export function startHostileTraffic(url: string, target: HostileTarget): HostileTraffic {
  const answers = new Map<string, Map<string, number>>();
  const strange: string[] = [];
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);

  async function send(kind: HostileKind): Promise<void> {
    const agent = keptConnection();
    const counts = new Map<string, number>();
    answers.set(kind.name, counts);
    for (let nth = 0; !stop.signal.aborted; nth++) {
      const answer = await sendHttp(url, { timeoutMs: TIMEOUT_MS, agent, ...kind.request(target, nth) }).catch(
        () => undefined,
      );
      const what = String(answer?.status ?? 'none');
      counts.set(what, (counts.get(what) ?? 0) + 1);
      const isBusy = answer?.status === 503 && answer.headers['retry-after'] !== undefined;
      if (answer !== undefined && answer.status >= 500 && !isBusy && strange.length < STRANGE_MAX) {
        strange.push(`${kind.name}, request ${nth}: ${answer.status} ${answer.text.slice(0, 300)}`);
      }
      await pauseUntil(kind.pauseMs, stop.signal);
    }
    agent.destroy();
  }

  /** Keeps one connection open, and opens another one when Weir closes it. */
  async function keepOpen(use: (socket: Socket) => void): Promise<void> {
    while (!stop.signal.aborted) {
      const socket = openSocket(url);
      socket.on('error', () => undefined);
      const closed = new Promise((resolve) => socket.once('close', resolve));
      const end = (): void => void socket.destroy();
      stop.signal.addEventListener('abort', end);
      use(socket);
      await closed;
      stop.signal.removeEventListener('abort', end);
      await pauseUntil(SLOW_PIECE_MS, stop.signal);
    }
  }
  const slowBody = (socket: Socket): void => {
    socket.write(SLOW_HEAD);
    const timer = setInterval(() => socket.writable && socket.write('x'), SLOW_PIECE_MS);
    socket.once('close', () => clearInterval(timer));
    socket.resume();
  };
  const unread = (socket: Socket): void => {
    socket.pause();
    socket.write(UNREAD_HEAD);
  };
  const times = (count: number, use: (socket: Socket) => void) => Array.from({ length: count }, () => keepOpen(use));
  const running = Promise.all([
    ...HOSTILE_KINDS.map(send),
    ...times(IDLE_CONNECTIONS, (socket) => void socket.resume()),
    ...times(SLOW_BODIES, slowBody),
    ...times(UNREAD_ANSWERS, unread),
  ]);
  return {
    answers,
    strange,
    async stop() {
      stop.abort();
      await running;
    },
  };
}

async function pauseUntil(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => undefined);
}

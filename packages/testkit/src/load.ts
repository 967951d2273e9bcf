import type { Agent } from 'node:http';
import { type HttpAnswer, keptConnection, sendHttp } from './http-client.ts';
import { bearer } from './weir-client.ts';

export interface LoadOptions {
  /** With several gateways, requests and retries go to each in turn. */
  readonly url: string | readonly string[];
  readonly site: string;
  readonly key: string;
  readonly clients: number;
  /** A client treats a request without an answer in this time as lost. Default 2 s. */
  readonly timeoutMs?: number;
  /** How long each client waits after an answer. Default: it does not wait. */
  readonly pauseMs?: number;
}

/** The results of the clients so far. An event that was sent several times counts once. */
export interface Load {
  /** Idempotency keys of the acknowledged server events. Each event is sent again until the answer is 202 or 200. */
  readonly acknowledgedKeys: ReadonlySet<string>;
  /** Names of browser hits, each sent once and answered 204. */
  readonly acknowledgedHits: ReadonlySet<string>;
  /** How many times a server event was not acknowledged (503, an answer in `strange`, no connection or no answer), so that it is sent again. */
  retries(): number;
  /** Answers that the test does not expect: other than success and 503. */
  readonly strange: readonly string[];
  /** Ends the load. Each client first repeats its current server event until it is acknowledged, so Weir must be reachable. */
  stop(): Promise<void>;
}

/** After this many requests, the hits of a client have another visitor. The number is so high that a visit has hits before and after a fault. */
const REQUESTS_PER_VISITOR = 60;

/** Starts clients. Each of them repeats: two server events with retries, then one hit without retries. */
export function startLoad({ url, site, key, clients, timeoutMs = 2_000, pauseMs }: LoadOptions): Load {
  const urls = typeof url === 'string' ? [url] : url;
  let turn = 0;
  const nextUrl = (): string => urls[turn++ % urls.length] ?? '';
  const acknowledgedKeys = new Set<string>();
  const acknowledgedHits = new Set<string>();
  const strange: string[] = [];
  let retries = 0;
  let stopped = false;

  /**
   * Resolves with `undefined` if there was no answer: the connection was refused or lost, or the time limit was exceeded. The client then
   * does not know whether Weir has stored the record.
   */
  const answerOrNone = (agent: Agent, path: string, body: object, headers = {}): Promise<HttpAnswer | undefined> =>
    sendHttp(nextUrl(), { path, body, headers, agent, timeoutMs }).catch(() => undefined);

  const untilAcknowledged = async (agent: Agent, name: string): Promise<void> => {
    for (;;) {
      const answer = await answerOrNone(agent, '/api/v1/events', loadEvent(name), bearer(key));
      if (answer?.status === 202 || answer?.status === 200) break;
      retries++;
      if (answer !== undefined && answer.status !== 503) strange.push(`event ${name}: ${answer.status} ${answer.text}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    acknowledgedKeys.add(name);
  };

  const hitOnce = async (agent: Agent, name: string, visitor: string): Promise<void> => {
    const hit = { site_id: site, visitor_id: visitor, session_id: '', type: 'event', event_name: name };
    const answer = await answerOrNone(agent, '/api/collect', hit);
    if (answer?.status === 204) acknowledgedHits.add(name);
    else if (answer !== undefined && answer.status !== 503) strange.push(`hit ${name}: ${answer.status}`);
  };

  const client = async (number: number): Promise<void> => {
    const agent = keptConnection();
    for (let n = 0; !stopped; n++) {
      const name = `c${number}-${n}`;
      if (n % 3 === 2) await hitOnce(agent, name, `v${number}-${Math.floor(n / REQUESTS_PER_VISITOR)}`);
      else await untilAcknowledged(agent, name);
      if (pauseMs !== undefined) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    agent.destroy();
  };
  const running = Promise.all(Array.from({ length: clients }, (_, number) => client(number)));

  return {
    acknowledgedKeys,
    acknowledgedHits,
    retries: () => retries,
    strange,
    async stop() {
      stopped = true;
      await running;
    },
  };
}

/** The server event with this name. Each event has its own visitor, so that all partitions get events. */
export function loadEvent(name: string): object {
  return { name: 'load', idempotency_key: name, visitor_id: name };
}

/** Returns a generator of numbers from 0 to 1, which are the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

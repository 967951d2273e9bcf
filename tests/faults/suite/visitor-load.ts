import type { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { keptConnection, sendHttp } from '@weir/testkit/http-client';
import { bearer } from '@weir/testkit/weir-client';

/**
 * `pageview` and `hit`: sent once to POST /api/collect. `keyed` and `payment`: sent to POST /api/v1/events with an idempotency key, again
 * and again until the answer is 202 or 200. `unkeyed`: sent there once, without a key. `identify`: sent to POST /api/identify until the
 * answer is 200.
 */
type SentKind = 'pageview' | 'hit' | 'keyed' | 'unkeyed' | 'payment' | 'identify';

/** One record that a client has sent. */
export interface Sent {
  readonly kind: SentKind;
  /** Unique. It is the path of a pageview, the name of a hit or an unkeyed event, the idempotency key, or the user ID of an identify. */
  readonly name: string;
  readonly visitor: string;
  readonly amount: string;
  /** Whether Weir has answered with success. */
  acknowledged: boolean;
}

export interface VisitorLoadOptions {
  /** Requests go to each gateway in turn. */
  readonly urls: readonly string[];
  readonly site: string;
  readonly key: string;
  readonly clients: number;
  readonly random: () => number;
  /** Whether clients also repeat events that Weir has acknowledged, with the same idempotency key. */
  readonly sendsKeysAgain: boolean;
}

export interface VisitorLoad {
  readonly sent: readonly Sent[];
  acknowledged(): number;
  /** The number of requests by what the caller saw: a status, `no connection`, or `no answer`. */
  readonly saw: ReadonlyMap<string, number>;
  /** Answers that no caller should get, such as a 503 without `Retry-After`. */
  readonly strange: readonly string[];
  /** Sends one more event until it is acknowledged. Resolves with its idempotency key. */
  probe(): Promise<string>;
  /** Sends this number of further events of one visitor, `atOnce` at a time, each until it is acknowledged. */
  burst(visitor: string, events: number, atOnce: number): Promise<void>;
  /** Resolves when each client has finished its current few records. Weir must be reachable. */
  stop(): Promise<void>;
  /** Ends all clients at once, also if Weir is not reachable. */
  abandon(): void;
}

/** A client IP that occurs nowhere else, so that a search of the disk finds each place that stores it. */
export const LOAD_ADDRESS = '203.0.113.77';
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';
const FROM = { 'x-forwarded-for': LOAD_ADDRESS, 'user-agent': BROWSER };
const TIMEOUT_MS = 2_000;
const PAUSE_MS = 15;
const RETRY_MS = 30;
const TURNS_OF_A_VISITOR = 8;
const REPEATED_SHARE = 0.2;

/** Starts clients. Each of them plays one visitor after the other: pageview, hits and server events, identify, payment. */
export function startVisitorLoad(options: VisitorLoadOptions): VisitorLoad {
  const { urls, site, key, clients, random, sendsKeysAgain } = options;
  const sent: Sent[] = [];
  const saw = new Map<string, number>();
  const strange: string[] = [];
  let turn = 0;
  let probes = 0;
  let stopped = false;
  let abandoned = false;

  async function request(agent: Agent, path: string, body: object, headers: object): Promise<number> {
    const url = urls[turn++ % urls.length] ?? '';
    let what: string;
    let status = 0;
    try {
      const answer = await sendHttp(url, {
        path,
        body,
        headers: { ...FROM, ...headers },
        agent,
        timeoutMs: TIMEOUT_MS,
      });
      status = answer.status;
      what = String(status);
      const isBusy = status === 503 && answer.headers['retry-after'] !== undefined;
      if (![200, 202, 204].includes(status) && !isBusy) strange.push(`${path}: ${status} ${answer.text.slice(0, 200)}`);
    } catch (error) {
      what = (error as Error).message.startsWith('no answer') ? 'no answer' : 'no connection';
    }
    saw.set(what, (saw.get(what) ?? 0) + 1);
    return status;
  }

  function note(kind: SentKind, name: string, visitor: string, amount = ''): Sent {
    const one = { kind, name, visitor, amount, acknowledged: false };
    sent.push(one);
    return one;
  }

  /** Sends a record once. */
  async function once(agent: Agent, one: Sent, isRetry = false): Promise<boolean> {
    const { kind, name, visitor, amount } = one;
    if (!isRetry) await pause(PAUSE_MS);
    let status: number;
    if (kind === 'pageview' || kind === 'hit') {
      const what = kind === 'pageview' ? { url: `https://example.com/${name}` } : { event_name: name };
      const hit = {
        site_id: site,
        visitor_id: visitor,
        session_id: '',
        type: kind === 'hit' ? 'event' : kind,
        ...what,
      };
      status = await request(agent, '/api/collect', hit, {});
    } else if (kind === 'identify') {
      status = await request(agent, '/api/identify', { visitor_id: visitor, user_id: name, plan: name }, bearer(key));
    } else {
      const payment = kind === 'payment' ? { value: amount, properties: { currency: 'EUR' } } : {};
      const keyed = kind === 'unkeyed' ? { name } : { name: kind, idempotency_key: name };
      status = await request(agent, '/api/v1/events', { ...keyed, visitor_id: visitor, ...payment }, bearer(key));
    }
    if (status >= 200 && status < 300) one.acknowledged = true;
    return one.acknowledged;
  }

  async function untilAcknowledged(agent: Agent, one: Sent): Promise<void> {
    for (let tried = 0; !(await once(agent, one, tried > 0)) && !abandoned; tried++) await pause(RETRY_MS);
  }

  /** Each try is a pageview of its own: a repeated hit has no key, so Weir cannot know that it is a repeat. */
  async function untilOnePageview(agent: Agent, visitor: string): Promise<void> {
    for (let tried = 0; !abandoned; tried++) {
      if (await once(agent, note('pageview', `${visitor}-p${tried}`, visitor))) break;
      await pause(RETRY_MS);
    }
  }

  async function playVisitor(agent: Agent, visitor: string): Promise<void> {
    await untilOnePageview(agent, visitor);
    let last: Sent | undefined;
    for (let nth = 0; nth < TURNS_OF_A_VISITOR && !stopped; nth++) {
      await once(agent, note('hit', `${visitor}-h${nth}`, visitor));
      if (sendsKeysAgain && last !== undefined && random() < REPEATED_SHARE) await once(agent, last);
      last = note('keyed', `${visitor}-k${nth}`, visitor);
      await untilAcknowledged(agent, last);
      await once(agent, note('unkeyed', `${visitor}-e${nth}`, visitor));
    }
    if (stopped) return;
    await untilAcknowledged(agent, note('identify', `user-of-${visitor}`, visitor));
    await untilAcknowledged(agent, note('payment', `${visitor}-m`, visitor, `${visitor.length}.25`));
  }

  const client = async (number: number): Promise<void> => {
    const agent = keptConnection();
    for (let n = 0; !stopped; n++) await playVisitor(agent, `v${number}-${n}`);
    agent.destroy();
  };
  const running = Promise.all(Array.from({ length: clients }, (_, number) => client(number)));

  return {
    sent,
    acknowledged: () => sent.reduce((count, one) => count + Number(one.acknowledged), 0),
    saw,
    strange,
    async probe() {
      const agent = keptConnection();
      const one = note('keyed', `probe-${probes++}`, `probe-${probes}`);
      await untilAcknowledged(agent, one);
      agent.destroy();
      return one.name;
    },
    async burst(visitor, events, atOnce) {
      let left = events;
      const sender = async (): Promise<void> => {
        const agent = keptConnection();
        while (left-- > 0) await untilAcknowledged(agent, note('keyed', `${visitor}-b${left}`, visitor));
        agent.destroy();
      };
      await Promise.all(Array.from({ length: atOnce }, sender));
    },
    async stop() {
      stopped = true;
      await running;
    },
    abandon() {
      stopped = true;
      abandoned = true;
    },
  };
}

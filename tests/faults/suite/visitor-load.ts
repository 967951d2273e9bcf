import type { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { keptConnection, sendHttp } from '@weir/testkit/http-client';
import { bearer } from '@weir/testkit/weir-client';

/**
 * How a client sends a record. `pageview` and `hit`: once to POST /api/collect. `keyed` and `payment`: to POST /api/v1/events with an idempotency
 * key, repeated until the answer is 202 or 200. `unkeyed`: once to POST /api/v1/events, without a key. `identify`: to POST /api/identify,
 * repeated until the answer is 200.
 */
type SentKind = 'pageview' | 'hit' | 'keyed' | 'unkeyed' | 'payment' | 'identify';

export interface Sent {
  readonly kind: SentKind;
  /** Unique. The path of a pageview, the name of a hit or of an unkeyed event, the idempotency key, or the user ID of an identify. */
  readonly name: string;
  readonly visitor: string;
  readonly amount: string;
  acknowledged: boolean;
}

export interface VisitorLoadOptions {
  /** Requests go to each gateway in turn. */
  readonly urls: readonly string[];
  readonly site: string;
  readonly key: string;
  readonly clients: number;
  readonly random: () => number;
  /** Whether clients also repeat acknowledged events, with the same idempotency key. */
  readonly sendsKeysAgain: boolean;
}

export interface VisitorLoad {
  readonly sent: readonly Sent[];
  acknowledged(): number;
  /** The number of requests for each answer: a status, `no connection` or `no answer`. */
  readonly saw: ReadonlyMap<string, number>;
  /** Answers that no caller should get, such as a 503 without `Retry-After`. */
  readonly strange: readonly string[];
  /** Sends one more event, repeatedly until it is acknowledged. Resolves with its idempotency key. */
  probe(): Promise<string>;
  /** Sends this number of events of one visitor, `atOnce` at a time. Repeats each until it is acknowledged. */
  burst(visitor: string, events: number, atOnce: number): Promise<void>;
  /** Ends the load. Each client first sends its current few records until they are acknowledged, so Weir must be reachable. */
  stop(): Promise<void>;
  /** Ends all clients at once, also if Weir is not reachable. */
  abandon(): void;
}

/** The client IP of all requests of the load. If a search of the disk finds this text, Weir has stored a client IP. */
export const LOAD_ADDRESS = '203.0.113.77';
const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';
const FROM = { 'x-forwarded-for': LOAD_ADDRESS, 'user-agent': BROWSER };
const TIMEOUT_MS = 2_000;
const PAUSE_MS = 15;
const RETRY_MS = 30;
const TURNS_OF_A_VISITOR = 8;
const REPEATED_SHARE = 0.2;

/** Starts clients. Each of them acts as one visitor after another: pageview, hits and server events, identify, payment. */
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

  /** Each attempt sends a pageview with another path: a hit has no idempotency key, so Weir would store a repeated hit twice. */
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

import fc from 'fast-check';
import { DAY_MS, dayStart, daysLater, HOUR_MS, localDate, MINUTE_MS } from './local-time.ts';
import {
  AGENTS,
  type Agent,
  AMOUNTS,
  BOT,
  DROPPED_PATH,
  EVENT_NAMES,
  INTERNAL,
  LANGUAGES,
  LINKS,
  type Link,
  NETWORKS,
  type Network,
  PATHS,
} from './sent-parts.ts';
import { hitProperties, type Properties, serverProperties } from './sent-properties.ts';

/**
 * Which IDs the hits of a visitor have. `named`: a visitor ID and a session ID, like hits of the snippet. `unnamed`: only a visitor ID.
 * `cookieless`: neither. `imported`: neither, and the hits are lines of an access log.
 */
type Mode = 'named' | 'unnamed' | 'cookieless' | 'imported';

export interface Person {
  readonly index: number;
  readonly mode: Mode;
  readonly agent: Agent;
  readonly network: Network;
  readonly language: string;
}

interface Common {
  /** The time of the event in Unix milliseconds. Unique within a history. */
  readonly at: number;
  /** The record arrives this long after its time. Records arrive in the order of `at + lateMs`. */
  readonly lateMs: number;
}
export interface Hit extends Common {
  readonly kind: 'hit';
  readonly person: Person;
  readonly visit: number;
  /** The name of the event. Empty if the hit is a pageview. */
  readonly name: string;
  readonly path: string;
  readonly link: Link;
  readonly properties: Properties;
  /** The value of an event; empty if it has none. An event from a browser is never a payment. */
  readonly amount: string;
}
export interface ServerEvent extends Common {
  readonly kind: 'server';
  readonly name: string;
  /** The visitor ID in the request; empty if it has none. */
  readonly visitor: string;
  readonly session: string;
  readonly user: string;
  readonly byBot: boolean;
  readonly page: string;
  readonly network: Network | undefined;
  readonly properties: Properties;
  /** The value of the event; empty if it has none. */
  readonly amount: string;
  /** Whether the value is sent as a number, and not as text. */
  readonly isNumber: boolean;
  readonly key: string;
}
export interface Identify extends Common {
  readonly kind: 'identify';
  readonly visitor: string;
  readonly user: string;
  readonly customer: string;
  readonly byServer: boolean;
}
export type Sent = Hit | ServerEvent | Identify;

export interface History {
  readonly zone: string;
  /** The start of the three days of the history. */
  readonly base: number;
  /** All records, in the order of arrival. */
  readonly sent: readonly Sent[];
}

export const HISTORY_MS = 3 * DAY_MS;
const USERS = ['ada', 'bob'] as const;

/** Time zones, each with some days: days with a clock change, days on which a year or a month begins, or ordinary days. */
const PLACES: readonly (readonly [string, readonly string[]])[] = [
  ['Asia/Kolkata', ['2026-03-01', '2026-05-12']],
  ['America/St_Johns', ['2026-03-08', '2026-11-01']],
  ['Europe/Berlin', ['2026-03-29', '2026-10-25']],
  ['Australia/Lord_Howe', ['2026-04-05', '2026-10-04']],
  ['America/Santiago', ['2026-09-06', '2026-04-04']],
  // In Havana, the clock skips the first hour of a day, and repeats the first hour of another day.
  ['America/Havana', ['2026-03-08', '2026-11-01']],
  ['Pacific/Chatham', ['2026-04-05', '2026-09-27']],
  ['Asia/Kathmandu', ['2026-01-01']],
  ['UTC', ['2026-01-01', '2026-06-15']],
];

export const visitorOf = ({ index }: Person): string => `v${index}`;
export const sessionOf = ({ index }: Person, visit: number): string => `s${index}-${visit}`;

const person = fc.record({
  mode: fc.constantFrom<Mode>(
    'named',
    'named',
    'unnamed',
    'unnamed',
    'unnamed',
    'cookieless',
    'cookieless',
    'imported',
    'imported',
  ),
  agent: fc.constantFrom(...AGENTS, ...AGENTS, BOT),
  network: fc.constantFrom(...NETWORKS),
  language: fc.constantFrom(...LANGUAGES),
});

const gapMs = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 20 * MINUTE_MS }) },
  { weight: 2, arbitrary: fc.integer({ min: -2, max: 2 }).map((ms) => 30 * MINUTE_MS + ms) },
  { weight: 1, arbitrary: fc.integer({ min: 30 * MINUTE_MS, max: 70 * MINUTE_MS }) },
);
const lateMs = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: HOUR_MS }) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 23 * HOUR_MS }) },
);

/**
 * The distance of a visit's first hit from a midnight or a clock change. With these values, some visits begin exactly at midnight or continue
 * over it.
 */
const nearEdgeMs = fc.oneof(
  fc.constantFrom(-31 * MINUTE_MS, -29 * MINUTE_MS, -1, 0, 1, 10 * MINUTE_MS),
  fc.integer({ min: -HOUR_MS, max: HOUR_MS }),
);
const start = fc.oneof(
  { weight: 2, arbitrary: fc.record({ inMs: fc.integer({ min: 0, max: HISTORY_MS - 1 }) }) },
  { weight: 3, arbitrary: fc.record({ edge: fc.nat(), nearMs: nearEdgeMs }) },
);

const visit = fc.record({
  person: fc.nat(),
  /** Another device, from which a person has this visit. Also a bot can send the visitor ID of a person. */
  device: fc.constantFrom(undefined, undefined, undefined, ...AGENTS, BOT),
  start,
  link: fc.constantFrom(...LINKS),
  hits: fc.array(
    fc.record({
      gapMs,
      lateMs,
      name: fc.constantFrom('', '', '', '', '', ...EVENT_NAMES),
      amount: fc.constantFrom('', '', '9.99'),
      path: fc.constantFrom(...PATHS, ...PATHS, DROPPED_PATH),
      properties: hitProperties,
    }),
    { minLength: 1, maxLength: 5, size: 'max' },
  ),
});

const serverEvent = fc.record({
  /** A number that selects the hit near which the event happens. */
  hit: fc.nat(),
  afterMs: fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min: -5 * MINUTE_MS, max: 10 * MINUTE_MS }) },
    { weight: 1, arbitrary: fc.integer({ min: -40 * MINUTE_MS, max: 70 * MINUTE_MS }) },
    { weight: 1, arbitrary: fc.constantFrom(-30 * MINUTE_MS, 30 * MINUTE_MS) },
    // The time of the hit: in a funnel, such an event is not later than the hit.
    { weight: 1, arbitrary: fc.constant(0) },
  ),
  lateMs,
  name: fc.constantFrom('signup', 'paid', 'paid', '$internal'),
  naming: fc.constantFrom(
    'visitor',
    'visitor',
    'visitor',
    'visitor',
    'session',
    'both',
    'user',
    'user',
    'visitor and user',
    'stranger',
    '',
  ),
  user: fc.constantFrom(...USERS, 'eve'),
  byBot: fc.constantFrom(false, false, false, false, true),
  page: fc.constantFrom('', '/pricing', '/api'),
  network: fc.constantFrom(undefined, ...NETWORKS),
  properties: serverProperties,
  amount: fc.constantFrom('', '', ...AMOUNTS, ...AMOUNTS.slice(0, 3)),
  isNumber: fc.boolean(),
  currency: fc.constantFrom('', 'EUR', 'EUR', 'usd'),
  customer: fc.constantFrom('', '', 'c1', 'c2'),
  key: fc.constantFrom('', '', 'k1', 'k2'),
});

const identify = fc.record({
  hit: fc.nat(),
  afterMs: fc.integer({ min: -HOUR_MS, max: HOUR_MS }),
  lateMs,
  user: fc.constantFrom(...USERS),
  customer: fc.constantFrom('', '', 'c1', 'c2'),
  byServer: fc.boolean(),
});

export const history: fc.Arbitrary<History> = fc
  .record({
    place: fc.constantFrom(...PLACES),
    day: fc.nat(),
    people: fc.array(person, { minLength: 1, maxLength: 5, size: 'max' }),
    visits: fc.array(visit, { minLength: 1, maxLength: 14, size: 'max' }),
    events: fc.array(serverEvent, { maxLength: 8, size: 'max' }),
    identifies: fc.array(identify, { maxLength: 4, size: 'max' }),
  })
  .map(({ place: [zone, days], day, people: drawn, visits, events, identifies }) => {
    const date = days[day % days.length] ?? '';
    const base = dayStart(daysLater(date, -1), zone);
    const people = drawn.map((one, index): Person => ({ index, ...one }));
    const taken = new Set<number>();
    /**
     * Returns the time, or the next time that no other record has. The order of two hits of the same millisecond is not defined. A server event can
     * have the time of a hit.
     */
    const unique = (ms: number): number => {
      let at = ms;
      while (taken.has(at)) at += 1;
      taken.add(at);
      return at;
    };
    const edges = edgesOf(base, zone);
    const hits = visits.flatMap(({ person: which, device, start: begin, link, hits: own }, index): Hit[] => {
      const usual = people[which % people.length] as Person;
      // Without session IDs, hits of a bot and of a person could be in the same session.
      const isUsual = device === undefined || usual.agent === BOT || (device === BOT && usual.mode !== 'named');
      const someone = isUsual ? usual : { ...usual, agent: device };
      let at = 'inMs' in begin ? base + begin.inMs : (edges[begin.edge % edges.length] ?? base) + begin.nearMs;
      return own.map(({ gapMs: gap, name, ...hit }, nth) => {
        at = unique(nth === 0 ? at : at + gap);
        const isLine = someone.mode === 'imported';
        const how = { name: isLine ? '' : name, link: nth === 0 ? link : INTERNAL };
        return { kind: 'hit', person: someone, visit: index, ...hit, ...how, at };
      });
    });
    const near = (hit: number, afterMs: number) => {
      const one = hits[hit % hits.length] as Hit;
      return { one, at: afterMs === 0 ? one.at : unique(one.at + afterMs) };
    };
    const fromServer = events.map(({ hit, afterMs, naming, user, currency, customer, ...event }): ServerEvent => {
      const { one, at } = near(hit, afterMs);
      const known = one.person.mode === 'named' || one.person.mode === 'unnamed';
      const isNamed = one.person.mode === 'named';
      const visitor =
        naming === 'stranger' ? 'stranger' : known && /visitor|both/.test(naming) ? visitorOf(one.person) : '';
      return {
        kind: 'server',
        ...event,
        at,
        visitor,
        session: isNamed && /session|both/.test(naming) ? sessionOf(one.person, one.visit) : '',
        user: naming.includes('user') ? user : '',
        isNumber: event.isNumber && String(Number(event.amount)) === event.amount,
        properties: {
          ...event.properties,
          ...(currency === '' ? {} : { currency }),
          ...(customer === '' ? {} : { payment_customer_id: customer }),
        },
      };
    });
    const naming = identifies.map(({ hit, afterMs, ...who }): Identify => {
      const { one, at } = near(hit, afterMs || 1);
      const visitor =
        one.person.mode === 'named' || one.person.mode === 'unnamed' ? visitorOf(one.person) : 'elsewhere';
      return { kind: 'identify', ...who, at, visitor };
    });
    const sent = [...hits, ...fromServer, ...naming].toSorted(
      (a, b) => a.at + a.lateMs - (b.at + b.lateMs) || a.at - b.at,
    );
    return { zone, base, sent };
  });

/** Times near which many visits begin: midnights (UTC and local), and clock changes. */
function edgesOf(base: number, zone: string): readonly number[] {
  const midnights = [1, 2].flatMap((days) => [
    Math.floor((base + days * DAY_MS) / DAY_MS) * DAY_MS,
    dayStart(localDate(base + days * DAY_MS, zone), zone),
  ]);
  return [...midnights, base + DAY_MS + 2 * HOUR_MS, base + DAY_MS + 3 * HOUR_MS];
}

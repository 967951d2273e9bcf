import { DAY_MS, HOUR_MS, MINUTE_MS } from './local-time.ts';
import { type History, type Hit, type Sent, type ServerEvent, sessionOf, visitorOf } from './sent-history.ts';
import { BOT, DIRECT, DROPPED_PATH, NO_AGENT, NO_LINK, NO_NETWORK } from './sent-parts.ts';

// This file computes the expected rows and visits of a history, by the rules of docs/api.md (Linking, Cookieless mode) and
// docs/stats.md, without SQL.

const IDLE_MS = 30 * MINUTE_MS;
const VISITOR_KEPT_UNTIL_MS = 4 * HOUR_MS;

export interface ModelRow {
  readonly at: number;
  readonly receivedAt: number;
  readonly origin: 'collect' | 'server' | 'import';
  /** The name of the event. Empty for a pageview. */
  readonly name: string;
  readonly visitor: string;
  /** Identifies the visit of the row. Empty if the row belongs to no visit. The visits of bots are not in `Model.visits`. */
  session: string;
  readonly user: string;
  readonly bot: string;
  readonly values: Readonly<Record<string, string>>;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly sent: Sent;
}

export interface ModelVisit {
  readonly session: string;
  readonly visitor: string;
  readonly start: number;
  readonly end: number;
  readonly pageviews: number;
  readonly events: number;
  readonly seconds: number;
  readonly isBounce: boolean;
  readonly values: Readonly<Record<string, string>>;
}

export interface Model {
  readonly history: History;
  readonly rows: readonly ModelRow[];
  readonly visits: ReadonlyMap<string, ModelVisit>;
  /** The times of receipt of the hits that the site's exclusion rule drops. */
  readonly dropped: readonly number[];
  /** Server events that repeat an idempotency key: the gateway answers that they are duplicates. */
  readonly duplicates: ReadonlySet<Sent>;
}

/**
 * A visit, computed from the hits that have arrived so far. `anchor` is the time of one of its hits. It identifies a visit without a session ID:
 * `start` cannot, because it can change when more hits arrive.
 */
interface Known {
  readonly anchor: number;
  readonly start: number;
  readonly last: number;
}

/** All lines of access logs are received at this time. All other records are received before it. */
export const importedAt = ({ base }: History): number => base + 5 * DAY_MS;
export const isLine = (hit: Hit): boolean => hit.person.mode === 'imported';
export const isInternal = ({ name }: Pick<ModelRow, 'name'>): boolean => name.startsWith('$');

export function modelOf(history: History): Model {
  const rows: ModelRow[] = [];
  const dropped: number[] = [];
  const duplicates = new Set<Sent>();
  const keys = new Set<string>();
  /** The times of the hits that have arrived so far: for each visitor, by session ID (empty if no session ID was sent). */
  const arrived = new Map<string, Map<string, number[]>>();
  const lastVisitor = new Map<string, string>();

  const knownVisits = (visitor: string): readonly (Known & { readonly session: string })[] =>
    [...(arrived.get(visitor) ?? [])].flatMap(([session, times]) =>
      (session === '' ? clusters(times) : [spanOf(times)]).map((known) => ({ session, ...known })),
    );
  /**
   * Returns the visit to which an event at this time belongs: a visit that has not ended at this time, otherwise one that begins within the next
   * 30 minutes.
   */
  const visitAt = (visitor: string, at: number) => {
    const all = knownVisits(visitor).toSorted((a, b) => b.start - a.start);
    return (
      all.find(({ start, last }) => at >= start && at <= last + IDLE_MS) ??
      all.find(({ start }) => at < start && at >= start - IDLE_MS)
    );
  };
  /** A cookieless visitor keeps the ID of the day before until the visitor has been idle for 30 minutes, and at the latest until 04:00 UTC. */
  const visitorOfHit = (hit: Hit): string => {
    const { mode, agent, network } = hit.person;
    if (mode === 'named' || mode === 'unnamed') return visitorOf(hit.person);
    const idOn = (ms: number) => [mode, Math.floor(ms / DAY_MS), network.ip, agent.text].join('|');
    const isEarly = hit.at % DAY_MS < VISITOR_KEPT_UNTIL_MS;
    const before = idOn(hit.at - DAY_MS);
    return isEarly && visitAt(before, hit.at) !== undefined ? before : idOn(hit.at);
  };
  const addHit = (hit: Hit): void => {
    const receivedAt = isLine(hit) ? importedAt(history) : hit.at;
    if (hit.path === DROPPED_PATH) {
      dropped.push(receivedAt);
      return;
    }
    const visitor = visitorOfHit(hit);
    const session = hit.person.mode === 'named' ? sessionOf(hit.person, hit.visit) : '';
    const ofVisitor = arrived.get(visitor) ?? new Map<string, number[]>();
    arrived.set(visitor, ofVisitor.set(session, [...(ofVisitor.get(session) ?? []), hit.at]));
    const { agent, network, language } = hit.person;
    rows.push({
      at: hit.at,
      receivedAt,
      origin: isLine(hit) ? 'import' : 'collect',
      name: hit.name,
      visitor,
      session: session === '' ? anchorOf(visitor, hit.at) : session,
      user: '',
      bot: agent.bot,
      values: {
        ...{ page: hit.path, hostname: 'example.com', language: isLine(hit) ? '' : language },
        ...{ ...network.values, ...agent.values, ...hit.link.values },
      },
      properties: hit.name === '' ? {} : hit.properties,
      sent: hit,
    });
  };
  const addServerEvent = (event: ServerEvent): void => {
    if (event.key !== '' && keys.has(event.key)) {
      duplicates.add(event);
      return;
    }
    keys.add(event.key);
    const byUser = event.visitor === '' && event.user !== '';
    const visitor = byUser ? (lastVisitor.get(event.user) ?? '') : event.visitor;
    const visit = event.session === '' && !byUser && visitor !== '' ? visitAt(visitor, event.at) : undefined;
    const joined = visit === undefined ? '' : visit.session || anchorOf(visitor, visit.anchor);
    const agent = event.byBot ? BOT : NO_AGENT;
    rows.push({
      at: event.at,
      receivedAt: event.at + event.lateMs,
      origin: 'server',
      name: event.name,
      visitor,
      session: event.session || joined,
      user: event.user,
      bot: agent.bot,
      values: {
        ...{ page: event.page, hostname: event.page === '' ? '' : 'example.com', language: '' },
        ...(event.network ?? NO_NETWORK).values,
        ...agent.values,
        ...(event.page === '' ? NO_LINK : DIRECT).values,
      },
      properties: event.properties,
      sent: event,
    });
  };

  for (const sent of history.sent) {
    if (sent.kind === 'hit') addHit(sent);
    else if (sent.kind === 'server') addServerEvent(sent);
    else lastVisitor.set(sent.user, sent.visitor);
  }
  for (const row of rows) row.session = finalSession(row.session, arrived);
  return { history, rows, visits: visitsOf(rows), dropped, duplicates };
}

const ANCHOR = '@';
const anchorOf = (visitor: string, at: number): string => `${visitor}${ANCHOR}${at}`;

/**
 * The final name of a visit whose hits have no session ID. It contains the time of the first hit, which is known only after all hits have
 * arrived.
 */
function finalSession(session: string, arrived: ReadonlyMap<string, ReadonlyMap<string, readonly number[]>>): string {
  if (!session.includes(ANCHOR)) return session;
  const [visitor = '', anchor] = session.split(ANCHOR);
  const at = Number(anchor);
  const own = clusters(arrived.get(visitor)?.get('') ?? []).find(({ start, last }) => start <= at && at <= last);
  return anchorOf(visitor, own?.start ?? Number.NaN);
}

function spanOf(times: readonly number[]): Known {
  const start = Math.min(...times);
  return { anchor: start, start, last: Math.max(...times) };
}

/** Groups the times of hits into visits. A visit ends when the visitor has been idle for 30 minutes. */
function clusters(times: readonly number[]): readonly Known[] {
  const found: number[][] = [];
  for (const at of times.toSorted((a, b) => a - b)) {
    const current = found.at(-1);
    if (current === undefined || at - (current.at(-1) ?? 0) > IDLE_MS) found.push([at]);
    else current.push(at);
  }
  return found.map(spanOf);
}

function visitsOf(rows: readonly ModelRow[]): ReadonlyMap<string, ModelVisit> {
  const bySession = new Map<string, ModelRow[]>();
  for (const row of rows) bySession.set(row.session, [...(bySession.get(row.session) ?? []), row]);
  const visits = new Map<string, ModelVisit>();
  for (const [session, all] of bySession) {
    const counted = all.filter(({ bot }) => bot === '').toSorted((a, b) => a.at - b.at);
    const ofVisitor = counted.filter(({ origin }) => origin !== 'server');
    const visiting = ofVisitor.filter((row) => !isInternal(row));
    const [first] = visiting;
    if (session === '' || first === undefined) continue;
    const { start, last } = spanOf(ofVisitor.map(({ at }) => at));
    const pages = visiting.filter(({ name }) => name === '');
    const pageviews = counted.filter(({ name }) => name === '').length;
    const events = counted.filter((row) => row.name !== '' && !isInternal(row)).length;
    visits.set(session, {
      session,
      visitor: first.visitor,
      start,
      end: last,
      pageviews,
      events,
      seconds: Math.floor((last - start) / 1000),
      isBounce: pageviews === 1 && events === 0,
      values: {
        ...first.values,
        entry: (pages[0] ?? first).values.page ?? '',
        exit: (pages.at(-1) ?? visiting.at(-1) ?? first).values.page ?? '',
      },
    });
  }
  return visits;
}

import type { Row, WeirClient } from '@weir/testkit/weir-client';
import { runWeir } from '@weir/testkit/weir-process';
import { VISITS_WITH_WRONG_STAMPS } from '../exactly-once.ts';
import { FLOOD_NAME } from './flood.ts';
import type { Sent } from './visitor-load.ts';

/** The result of comparing all sent records with all stored rows. */
export interface SentAudit {
  /** The number of records that Weir acknowledged, without repeats. */
  readonly acknowledged: number;
  /** The number of sent records that are stored, also those that were not acknowledged. */
  readonly stored: number;
  /** The number of acknowledged records that are not stored. */
  readonly lost: number;
  /** The number of surplus rows: a record that is stored three times has two. */
  readonly doubled: number;
  /** One sentence for each kind of difference, with the names of a few records. Empty if nothing is wrong. */
  readonly findings: readonly string[];
}

interface Stored {
  readonly name: string;
  readonly visitor: string;
  readonly at: number;
  /** The raw offset of the row. All rows of one visitor are in one partition, so their raw offsets show the order of arrival. */
  readonly rawOffset: number;
  readonly isPageview: boolean;
  readonly isHit: boolean;
  readonly hasProfile: boolean;
}

const ROWS_PER_QUERY = 4_000;
const NAMED_MAX = 5;
const IDLE_MS = 30 * 60_000;

/**
 * Compares the tables of the site with `sent`. Call it when Weir has processed all records. `deadLetters`: the number of dead letters that the
 * fault must have caused. `forgetsVisits`: see `Fault` in fault.ts.
 */
export async function auditSent(
  { client }: { readonly client: WeirClient },
  site: string,
  sent: readonly Sent[],
  { deadLetters = 0, forgetsVisits = false } = {},
): Promise<SentAudit> {
  const findings: string[] = [];
  const differs = (what: string, names: readonly string[]): void => {
    if (names.length === 0) return;
    const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : '';
    findings.push(`${what}: ${names.slice(0, NAMED_MAX).join(', ')}${more}`);
  };
  const rows = await readRows(client, site, sent.length);
  const people = await readPeople(client, site);
  const counts = new Map<string, number>();
  for (const { name } of rows) counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const { user } of people) counts.set(user, (counts.get(user) ?? 0) + 1);
  const names = new Set(sent.map(({ name }) => name));

  const lost = sent.filter(({ name, acknowledged }) => acknowledged && !counts.has(name));
  const doubled = [...counts].filter(([, count]) => count > 1);
  differs(
    'acknowledged, but not stored',
    lost.map(({ name }) => name),
  );
  differs(
    'stored more than once',
    doubled.map(([name, count]) => `${name} (${count} times)`),
  );
  differs(
    'stored, but never sent',
    [...counts.keys()].filter((name) => !names.has(name)),
  );
  const found = await readSessions(client, site);
  const sessions = [found, expectedSessions(rows)].map((all) => (forgetsVisits ? all.map(withoutEvents) : all));
  differs('sessions differ', differences(sessions[0] ?? [], sessions[1] ?? []));
  differs('profiles differ', differences(people.map(shownPerson), expectedPeople(sent, counts).map(shownPerson)));
  differs('payments differ', differences(await readPayments(client, site), expectedPayments(sent, counts)));
  const identified = new Set(people.map(({ visitor }) => visitor));
  differs(
    'rows without the profile of their visitor',
    rows.filter(({ visitor, hasProfile }) => identified.has(visitor) !== hasProfile).map(({ name }) => name),
  );

  const wrongStamps = `${VISITS_WITH_WRONG_STAMPS} AND site_id = {site:String} LIMIT ${NAMED_MAX}`;
  for (const row of forgetsVisits ? [] : await client.sql(wrongStamps, { site })) {
    findings.push(`stamps differ from sessions: ${JSON.stringify(row)}`);
  }
  for (const row of await client.audit())
    findings.push(`raw offsets without exactly one outcome: ${JSON.stringify(row)}`);
  const dead = await client.number('SELECT count() FROM dead_letters');
  if (dead !== deadLetters) findings.push(`${dead} dead letters, not ${deadLetters}`);
  const command = await runWeir(client, ['audit']);
  if (command.code !== 0) findings.push(`weir audit ended with ${command.code}: ${command.stdout}${command.stderr}`);
  return {
    acknowledged: sent.filter(({ acknowledged }) => acknowledged).length,
    stored: sent.filter(({ name }) => counts.has(name)).length,
    lost: lost.length,
    doubled: doubled.reduce((sum, [, count]) => sum + count - 1, 0),
    findings,
  };
}

/** Runs several queries, because the size of one answer is limited. */
async function readRows({ sql }: WeirClient, site: string, sentCount: number): Promise<readonly Stored[]> {
  const parts = Math.ceil((sentCount + 1) / ROWS_PER_QUERY);
  const found: Stored[] = [];
  for (let part = 0; part < parts; part++) {
    const rows = await sql(
      `SELECT multiIf(idempotency_key != '', idempotency_key, type = 'pageview', substring(pathname, 2), event_name) AS name,
         visitor_id, toUnixTimestamp64Milli(timestamp) AS at, source, type, profile_id, raw_offset
       FROM events WHERE site_id = {site:String} AND NOT startsWith(event_name, '${FLOOD_NAME}') AND cityHash64(visitor_id) % ${parts} = {part:UInt32}`,
      { site, part },
    );
    for (const row of rows) found.push(storedOf(row));
  }
  return found;
}

function storedOf({ name, visitor_id, at, source, type, profile_id, raw_offset }: Row): Stored {
  return {
    name: String(name),
    visitor: String(visitor_id),
    at: Number(at),
    rawOffset: Number(raw_offset),
    isPageview: type === 'pageview',
    isHit: source === 'collect',
    hasProfile: profile_id !== '',
  };
}

interface Person {
  readonly user: string;
  readonly visitor: string;
  readonly plan: string;
}
const shownPerson = ({ user, visitor, plan }: Person): string => `${user} is ${visitor}, plan ${plan}`;

async function readPeople({ sql }: WeirClient, site: string): Promise<readonly Person[]> {
  const rows = await sql(
    "SELECT user_id, arrayStringConcat(visitor_ids, '+') AS visitor, toString(traits.plan) AS plan FROM profiles WHERE site_id = {site:String}",
    { site },
  );
  return rows.map(({ user_id, visitor, plan }) => ({
    user: String(user_id),
    visitor: String(visitor),
    plan: String(plan),
  }));
}

/** The profiles that must be stored. The profile of an identify that was not acknowledged may be missing. If it is stored, it must be as sent. */
function expectedPeople(sent: readonly Sent[], counts: ReadonlyMap<string, number>): readonly Person[] {
  return sent
    .filter(({ kind, name, acknowledged }) => kind === 'identify' && (acknowledged || counts.has(name)))
    .map(({ name, visitor }) => ({ user: name, visitor, plan: name }));
}

async function readPayments({ sql }: WeirClient, site: string): Promise<readonly string[]> {
  const rows = await sql(
    `SELECT paid.visitor_id AS visitor, toString(paid.amount) AS amount, paid.currency AS currency, paid.channel AS channel, profiles.user_id AS user
     FROM payments AS paid LEFT JOIN profiles ON profiles.site_id = paid.site_id AND profiles.profile_id = paid.profile_id
     WHERE paid.site_id = {site:String}`,
    { site },
  );
  return rows.map(
    ({ visitor, amount, currency, channel, user }) =>
      `${visitor} paid ${Number(amount)} ${currency} after ${channel} as ${user}`,
  );
}

function expectedPayments(sent: readonly Sent[], counts: ReadonlyMap<string, number>): readonly string[] {
  return sent
    .filter(({ kind, name }) => kind === 'payment' && counts.has(name))
    .map(({ visitor, amount }) => `${visitor} paid ${Number(amount)} EUR after Direct as user-of-${visitor}`);
}

async function readSessions({ sql }: WeirClient, site: string): Promise<readonly string[]> {
  const rows = await sql(
    `SELECT visitor_id, toUnixTimestamp64Milli(started_at) AS started, toUnixTimestamp64Milli(ended_at) AS ended, pageviews, events
     FROM sessions WHERE site_id = {site:String}`,
    { site },
  );
  return rows.map(({ visitor_id, started, ended, pageviews, events }) =>
    shownSession(String(visitor_id), Number(started), Number(ended), Number(pageviews), Number(events)),
  );
}

const shownSession = (visitor: string, started: number, ended: number, pageviews: number, events: number): string =>
  `${visitor} from ${new Date(started).toISOString()} to ${new Date(ended).toISOString()} with ${pageviews} pageviews, ${events} events`;

const withoutEvents = (session: string): string => session.replace(/, \d+ events$/, '');

/**
 * The sessions that the stored rows must have. A session of a visitor ends after 30 idle minutes. A server event can only join a session that
 * Weir knew when the event arrived. This is a session that had not ended at the time of the event. If there is none, it is a session that began
 * within 30 minutes after the event. The gateway sets the times and the order of arrival, so these two come from the tables.
 */
function expectedSessions(rows: readonly Stored[]): readonly string[] {
  return [...groupByVisitor(rows)].flatMap(([visitor, own]) => {
    const hits: Stored[] = [];
    const joined: number[] = [];
    for (const row of own.toSorted((a, b) => a.rawOffset - b.rawOffset)) {
      if (row.isHit) {
        hits.push(row);
        continue;
      }
      const known = visitsOf(hits).toReversed();
      const visit =
        known.find(({ started, ended }) => row.at >= started && row.at <= ended + IDLE_MS) ??
        known.find(({ started }) => row.at < started && row.at >= started - IDLE_MS);
      if (visit !== undefined) joined.push(visit.started);
    }
    return visitsOf(hits).map(({ started, ended, pageviews, events }) => {
      const more = joined.filter((at) => at >= started && at <= ended).length;
      return shownSession(visitor, started, ended, pageviews, events + more);
    });
  });
}

interface Visit {
  readonly started: number;
  ended: number;
  pageviews: number;
  events: number;
}

/** Groups the hits of one visitor into visits, in order of time. */
function visitsOf(hits: readonly Stored[]): readonly Visit[] {
  const visits: Visit[] = [];
  for (const { at, isPageview } of hits.toSorted((a, b) => a.at - b.at)) {
    let visit = visits.at(-1);
    if (visit === undefined || at - visit.ended > IDLE_MS) {
      visit = { started: at, ended: at, pageviews: 0, events: 0 };
      visits.push(visit);
    }
    visit.ended = at;
    if (isPageview) visit.pageviews += 1;
    else visit.events += 1;
  }
  return visits;
}

function groupByVisitor(rows: readonly Stored[]): Map<string, Stored[]> {
  const groups = new Map<string, Stored[]>();
  for (const row of rows) {
    const group = groups.get(row.visitor);
    if (group === undefined) groups.set(row.visitor, [row]);
    else group.push(row);
  }
  return groups;
}

function differences(found: readonly string[], expected: readonly string[]): readonly string[] {
  const left = new Map<string, number>();
  for (const text of expected) left.set(text, (left.get(text) ?? 0) + 1);
  for (const text of found) left.set(text, (left.get(text) ?? 0) - 1);
  return [...left].flatMap(([text, count]) => (count === 0 ? [] : [count > 0 ? `missing: ${text}` : `found: ${text}`]));
}

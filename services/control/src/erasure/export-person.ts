import { namedEntries, type Tombstone } from '@weir/domain/erasure/tombstone';
import { DependencyError } from '@weir/domain/errors';
import type { Analytics } from '@weir/ports/analytics';
import { findLetters } from './find-letters.ts';
import { findLinked } from './find-linked.ts';
import { liveDatabase } from './live-and-shadow.ts';
import { type PersonSql, personSql } from './person-sql.ts';

export interface ExportedPerson {
  readonly siteId: string;
  readonly visitorId: string;
  readonly userId: string;
  readonly at: number;
  /** A random salt. The export selects records in the same way as an erasure: by salted hashes of the IDs. */
  readonly salt: string;
}

const PAGE_ROWS = 1_000;
/** Larger than `PAGE_ROWS`, because ClickHouse computes all sessions of the person again for each page. */
export const PAGE_SESSIONS = 5_000;

/**
 * Yields the pieces of one JSON object. It has the records that an erasure of this person would delete, and the sessions, profiles, links and
 * payments that belong to them. The first piece is yielded after the first queries have succeeded, so that a failure of these queries can be
 * answered with an error status. If a swap (docs/glossary.md) exchanges the tables during the export, some rows may come from the old tables and
 * some from the new tables. The function then throws `generation_changed` instead of the last piece.
 */
export async function* exportPerson(
  analytics: Pick<Analytics, 'select' | 'generation'>,
  asked: ExportedPerson,
): AsyncGenerator<string> {
  const { siteId, visitorId, userId, at, salt } = asked;
  const before = await analytics.generation();
  const named = (id: string): readonly string[] => (id === '' ? [] : [id]);
  const entries = namedEntries(salt, siteId, named(visitorId), named(userId));
  const head: Tombstone = { siteId, erasureId: '', part: 0, at, salt, whole: false, entries };
  const set: Tombstone = { ...head, entries: [...entries, ...(await findLinked(analytics, head))] };
  const person = personSql([set], await findLetters(analytics, await liveDatabase(analytics), [set]));

  yield `{"site_id":${JSON.stringify(siteId)},"visitor_id":${jsonOrNull(visitorId)},"user_id":${jsonOrNull(userId)}`;
  yield* list('records', pages(analytics, person));
  yield* list('sessions', sessionPages(analytics, sessionsOf(person)));
  for (const [name, query] of tables(person)) yield* list(name, once(analytics, query));
  if ((await analytics.generation()) !== before) {
    throw new DependencyError('generation_changed', 'the tables were exchanged during the export: export again');
  }
  yield '}\n';
}

const mine = ({ records }: PersonSql, columns: string, further: string): string =>
  `SELECT ${columns} FROM records WHERE ${records} AND ${further}`;

/** Selects the sessions of a person. Sessions can be kept for longer than their events, so this also finds sessions by their visitor ID. */
function sessionsOf(person: PersonSql): string {
  return `SELECT * FROM sessions WHERE site_id = '${person.siteId}' AND (${person.isVisitor('visitor_id', 'started_at')}
    OR session_id IN (${mine(person, 'session_id', "session_id != ''")}))`;
}

function tables(person: PersonSql): readonly (readonly [name: string, query: string])[] {
  const { siteId, isProfile } = person;
  const site = `site_id = '${siteId}'`;
  const visitors = mine(person, 'visitor_id', "visitor_id != ''");
  return [
    ['profiles', `SELECT * FROM profiles WHERE ${site} AND ${isProfile('profile_id')}`],
    [
      'links',
      `SELECT visitor_id, received_at, profile_id, unlinks FROM links_log
       WHERE ${site} AND (${isProfile('profile_id')} OR visitor_id IN (${visitors})) ORDER BY received_at`,
    ],
    ['payment_customers', `SELECT * FROM payment_customers WHERE ${site} AND ${isProfile('profile_id')}`],
    [
      'payments',
      `SELECT * FROM payments WHERE ${site} AND event_id IN (${mine(person, 'event_id', "source = 'server'")})`,
    ],
  ];
}

/** A row as JSON. ClickHouse writes this text, because JavaScript would round integers above 2^53. */
interface Line {
  readonly line: string;
}
const LINE = "formatRowNoNewline('JSONEachRow', *) AS line";
/** Without this setting, older servers write integers of 64 bits as strings. */
const SETTINGS = 'SETTINGS output_format_json_quote_64bit_integers = 0';

async function* pages(analytics: Pick<Analytics, 'select'>, person: PersonSql): AsyncGenerator<readonly Line[]> {
  interface Row extends Line {
    readonly log_id: string;
    readonly raw_partition: number | string;
    readonly raw_offset: number | string;
  }
  for (let after: readonly [string, number, number] = ['', 0, 0]; ; ) {
    const rows = await analytics.select<Row>(
      `SELECT ${LINE}, log_id, raw_partition, raw_offset FROM records WHERE ${person.records}
         AND (log_id, raw_partition, raw_offset) > ({log:String}, {partition:UInt32}, {offset:UInt64})
       ORDER BY log_id, raw_partition, raw_offset LIMIT ${PAGE_ROWS} ${SETTINGS}`,
      { log: after[0], partition: after[1], offset: after[2] },
    );
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_ROWS) return;
    after = [last.log_id, Number(last.raw_partition), Number(last.raw_offset)];
  }
}

async function* sessionPages(analytics: Pick<Analytics, 'select'>, query: string): AsyncGenerator<readonly Line[]> {
  for (let after = ''; ; ) {
    const rows = await analytics.select<Line & { readonly session_id: string }>(
      `SELECT ${LINE}, session_id FROM (${query}) WHERE session_id > {after:String}
       ORDER BY session_id LIMIT ${PAGE_SESSIONS} ${SETTINGS}`,
      { after },
    );
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE_SESSIONS) return;
    after = last.session_id;
  }
}

async function* once(analytics: Pick<Analytics, 'select'>, query: string): AsyncGenerator<readonly Line[]> {
  yield await analytics.select<Line>(`SELECT ${LINE} FROM (${query}) ${SETTINGS}`);
}

async function* list(name: string, rows: AsyncIterable<readonly Line[]>): AsyncGenerator<string> {
  yield `,${JSON.stringify(name)}:[`;
  let separator = '\n';
  for await (const page of rows) {
    for (const { line } of page) {
      yield separator + line;
      separator = ',\n';
    }
  }
  yield ']';
}

function jsonOrNull(text: string): string {
  return text === '' ? 'null' : JSON.stringify(text);
}

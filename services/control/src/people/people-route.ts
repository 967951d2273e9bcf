import { profileId } from '@weir/domain/people/profile-id';
import type { AdminDeps } from '../control-deps.ts';
import { invalid, ok, type Reply } from '../http/admin-reply.ts';
import type { SiteRequest } from '../http/admin-route.ts';
import type { Statement } from '../reports/report-sql.ts';
import type { ReadableTables } from '../steady-tables.ts';
import {
  eventsStatement,
  type Page,
  type PersonId,
  paymentsStatement,
  profileStatement,
  searchStatement,
  sessionsStatement,
} from './people-sql.ts';

const LIMIT_DEFAULT = 50;

interface PeopleSearch {
  readonly search?: string;
  readonly limit?: number;
  readonly page?: number;
}

interface PersonRequest {
  readonly user_id?: string;
  readonly visitor_id?: string;
  readonly limit?: number;
  readonly page?: number;
}

type Row = Readonly<Record<string, unknown>>;

/** Answers with the identified users of a site, the most recently seen first. */
export async function searchPeople(deps: AdminDeps, request: SiteRequest<PeopleSearch>): Promise<Reply> {
  const { site, body, context } = request;
  const { siteId } = site;
  if ('problem' in body) return invalid(body.problem);
  const { search = '', limit = LIMIT_DEFAULT, page = 1 } = body.value;
  const rows = await deps.tables.read(
    (tables) => read(tables, searchStatement(siteId, search.trim(), { limit, page })),
    context,
  );
  return ok({ limit, page, has_more: rows.length > limit, people: rows.slice(0, limit) });
}

/** Answers with the profile, one page of the events with their sessions, and the last payments of one person, the newest first. */
export async function readTimeline(deps: AdminDeps, request: SiteRequest<PersonRequest>): Promise<Reply> {
  const { site, body, context } = request;
  const { siteId } = site;
  if ('problem' in body) return invalid(body.problem);
  const { user_id: userId, visitor_id: visitorId, limit = LIMIT_DEFAULT, page = 1 } = body.value;
  if ((userId === undefined) === (visitorId === undefined)) return invalid('name either visitor_id or user_id');
  const person: PersonId =
    userId === undefined ? { visitorId: visitorId ?? '' } : { userId, profileId: profileId(siteId, userId) };
  return ok(await deps.tables.read((tables) => timeline(tables, siteId, person, { limit, page }), context));
}

async function timeline(tables: ReadableTables, siteId: string, person: PersonId, page: Page): Promise<object> {
  const [profile] = await read(tables, profileStatement(siteId, person));
  const found = await read(tables, eventsStatement(siteId, person, page));
  const events = found.slice(0, page.limit);
  const sessionIds = [...new Set(events.map((event) => String(event.session_id)))].filter((id) => id !== '');
  const sessions = sessionIds.length === 0 ? [] : await read(tables, sessionsStatement(siteId, sessionIds));
  const payments = await read(tables, paymentsStatement(siteId, person));
  return { profile: profile ?? null, ...page, has_more: found.length > page.limit, events, sessions, payments };
}

/**
 * Runs a statement, and removes the ending `_iso` from the names of its columns. Times have this ending in the statement, because the table
 * also has a column with the name without the ending.
 */
async function read(tables: ReadableTables, { sql, params }: Statement): Promise<readonly Row[]> {
  const { rows } = await tables.userQuery(sql, params);
  return rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name.replace(/_iso$/, ''), value])),
  );
}

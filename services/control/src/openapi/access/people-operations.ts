import { count, jsonResponse, object, type Schema, successBody, text, texts } from '@weir/runtime/http/openapi';
import { type AdminOperation, NOT_FOUND } from '../admin-operations.ts';

const paged = { limit: count, page: count, has_more: { type: 'boolean' } };
const textsOf = (...names: readonly string[]): Readonly<Record<string, Schema>> =>
  Object.fromEntries(names.map((name) => [name, text]));

const profile = {
  ...textsOf('profile_id', 'user_id', 'email', 'name', 'image'),
  traits: { type: 'object' },
  visitor_ids: texts,
  ...textsOf('first_seen_at', 'last_seen_at'),
};
const event = {
  ...textsOf('event_id', 'source', 'type', 'event_name', 'timestamp', 'visitor_id', 'session_id', 'user_id'),
  value: { type: ['number', 'string', 'null'] },
  properties: { type: 'object' },
  ...textsOf('url', 'hostname', 'pathname', 'referrer', 'channel', 'traffic_source', 'country', 'region', 'city'),
  ...textsOf('browser', 'os', 'device_type', 'bot'),
};
const session = {
  ...textsOf('session_id', 'visitor_id', 'started_at', 'ended_at'),
  ...{ duration_seconds: count, pageviews: count, events: count },
  ...textsOf('entry_path', 'exit_path'),
  is_bounce: { type: 'boolean' },
  ...textsOf('channel', 'traffic_source', 'country', 'browser', 'os', 'device_type'),
};
const payment = textsOf('event_id', 'event_name', 'timestamp', 'currency', 'amount');

/** These calls use POST, because IDs and e-mail addresses do not belong in URLs. */
export const PEOPLE_OPERATIONS = {
  searchPeople: {
    id: 'searchPeople',
    summary: 'The identified users of a site, the last seen first',
    responses: {
      200: jsonResponse(
        'A page.',
        successBody(object({ ...paged, people: { type: 'array', items: object(profile) } })),
      ),
      ...NOT_FOUND,
    },
  },
  readTimeline: {
    id: 'readTimeline',
    summary: 'The profile, events, sessions and payments of one person, the newest first',
    responses: {
      200: jsonResponse(
        'A page of the events, with their sessions; the last 100 payments.',
        successBody(
          object({
            profile: { ...object(profile), type: ['object', 'null'], description: 'Null: not an identified user.' },
            ...paged,
            events: { type: 'array', items: object(event) },
            sessions: { type: 'array', items: object(session) },
            payments: { type: 'array', items: object(payment) },
          }),
        ),
      ),
      ...NOT_FOUND,
    },
  },
} as const satisfies Readonly<Record<string, AdminOperation>>;

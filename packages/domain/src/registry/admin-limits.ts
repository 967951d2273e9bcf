import { QUERY_ALLOW_NAME_CHARS_MAX, QUERY_ALLOW_NAMES_MAX } from '../ingest/query-allow.ts';
import { END_MS } from '../ingest/timestamp.ts';
import { ACTION_TYPES, GOAL_NAME_CHARS_MAX } from './goal.ts';
import { KEEP_PATTERN } from './keep.ts';

// The bodies of the admin API (docs/api.md, Admin API), as JSON Schema. The routes check them, and the OpenAPI document shows them.

/** Limit of a SQL query that a user writes, through any interface. */
export const SQL_CHARS_MAX = 65_536;

export const name = { type: 'string', minLength: 1, maxLength: 255, pattern: '\\S' } as const;
const domain = {
  type: 'string',
  maxLength: 253,
  pattern: '^[\\p{L}\\p{N}]([\\p{L}\\p{N}.-]*[\\p{L}\\p{N}])?$',
  'x-rule': 'a host name such as example.com, without https:// and without a path',
} as const;
export const time = { type: 'string', minLength: 1, maxLength: 64 } as const;
const timezone = time;
const perMinute = { type: ['integer', 'null'], minimum: 1, maximum: 1_000_000_000 } as const;
export const SITE_LIMITS = {
  type: 'object',
  properties: { collect: perMinute, events: perMinute, identify: perMinute },
  additionalProperties: false,
} as const;

export const QUERY_ALLOW = {
  description:
    'The query parameters that stored URLs, referrers and paths keep. Null: all; empty: none. Tags and click IDs are read before.',
  type: ['array', 'null'],
  maxItems: QUERY_ALLOW_NAMES_MAX,
  uniqueItems: true,
  items: { type: 'string', minLength: 1, maxLength: QUERY_ALLOW_NAME_CHARS_MAX },
} as const;

const IDENTITY_VERIFICATION_CHANGE = {
  description: 'required: a browser’s identify without a valid signature is dropped. It needs an identity secret.',
  type: 'object',
  required: ['required'],
  properties: { required: { type: 'boolean' } },
  additionalProperties: false,
} as const;

const keptFor = {
  type: ['string', 'null'],
  pattern: KEEP_PATTERN,
  'x-rule': 'a number of days or years, such as 400d or 2y, or forever',
} as const;
export const KEEP = {
  description:
    'For how long the tables keep rows: 400d, 2y (a year has 365 days) or forever. Null: KEEP_EVENTS, KEEP_PROFILES, KEEP_ROLLUPS. rollups must not be shorter than events.',
  type: 'object',
  properties: { events: keptFor, profiles: keptFor, rollups: keptFor },
  additionalProperties: false,
} as const;

export const NEW_SITE = {
  type: 'object',
  required: ['name', 'domain'],
  properties: {
    name,
    domain,
    timezone,
    limits: SITE_LIMITS,
    query_allow: QUERY_ALLOW,
    keep: KEEP,
    site_id: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,64}$' },
  },
} as const;

export const SITE_CHANGE = {
  type: 'object',
  properties: {
    name,
    domain,
    timezone,
    limits: SITE_LIMITS,
    query_allow: QUERY_ALLOW,
    keep: KEEP,
    identity_verification: IDENTITY_VERIFICATION_CHANGE,
  },
} as const;

export const SCOPES = {
  type: 'array',
  minItems: 1,
  uniqueItems: true,
  items: { type: 'string', enum: ['events:write', 'identify:write'] },
} as const;

export const NEW_KEY = {
  type: 'object',
  required: ['name'],
  properties: {
    name,
    scopes: SCOPES,
    legacy_identify: { type: 'boolean' },
  },
} as const;

export const EXCLUSION_TYPE = {
  type: 'string',
  enum: ['ip', 'path', 'hostname', 'country', 'user_agent', 'visitor', 'bots'],
} as const;

export const NEW_EXCLUSION = {
  type: 'object',
  required: ['type'],
  properties: {
    type: EXCLUSION_TYPE,
    value: { type: 'string', maxLength: 1024 },
  },
} as const;

/** The fields of a hit with which exclusion rules are compared. A request sends them to learn which rule would drop such a hit. */
export const TESTED_HIT = {
  type: 'object',
  properties: {
    ip: { type: 'string', maxLength: 64 },
    path: { type: 'string', maxLength: 4096 },
    hostname: { type: 'string', maxLength: 255 },
    country: { type: 'string', maxLength: 2 },
    user_agent: { type: 'string', maxLength: 1024 },
    visitor_id: { type: 'string', maxLength: 64 },
  },
} as const;

export const NEW_GOAL = {
  type: 'object',
  required: ['type', 'value'],
  properties: {
    type: { type: 'string', enum: ACTION_TYPES },
    value: { type: 'string' },
    name: { type: 'string', minLength: 1, maxLength: GOAL_NAME_CHARS_MAX, pattern: '\\S' },
  },
} as const;

/** The token with which a person signs in: the admin token, or the token of a viewer. */
export const NEW_SESSION = {
  type: 'object',
  required: ['token'],
  properties: { token: { type: 'string', minLength: 1, maxLength: 256 } },
} as const;

export const NEW_VIEWER = { type: 'object', required: ['name'], properties: { name } } as const;

/** The longest IDs of a server event (schemas/server-event.schema.json), in Unicode code points. The user ID of an identity has at most 255. */
export const USER_ID_CHARS_MAX = 256;
export const VISITOR_ID_CHARS_MAX = 64;

export const UNLINK = {
  type: 'object',
  required: ['visitor_id'],
  properties: {
    visitor_id: { type: 'string', minLength: 1, maxLength: 64 },
    user_id: { type: 'string', minLength: 1, maxLength: 255 },
  },
} as const;

const peoplePage = {
  limit: { type: 'integer', minimum: 1, maximum: 200, description: 'Default: 50.' },
  page: { type: 'integer', minimum: 1, maximum: 100, description: 'Default: 1.' },
} as const;

export const PEOPLE_SEARCH = {
  type: 'object',
  properties: {
    search: {
      type: 'string',
      maxLength: 255,
      description: 'A part of a user ID, e-mail address, name or trait, in any letter case, or a visitor ID.',
    },
    ...peoplePage,
  },
} as const;

export const PERSON = {
  description: 'Either user_id or visitor_id.',
  type: 'object',
  properties: {
    user_id: { type: 'string', minLength: 1, maxLength: USER_ID_CHARS_MAX },
    visitor_id: { type: 'string', minLength: 1, maxLength: VISITOR_ID_CHARS_MAX },
    ...peoplePage,
  },
} as const;

/** The maximum number of persons that one erasure can name. */
export const PERSONS_MAX = 10_000;

export const NEW_ERASURE = {
  description: `visitors and users, ${PERSONS_MAX} together, or all: true for everything that the site has stored so far.`,
  type: 'object',
  properties: {
    visitors: {
      type: 'array',
      maxItems: PERSONS_MAX,
      items: { type: 'string', minLength: 1, maxLength: VISITOR_ID_CHARS_MAX },
    },
    users: {
      type: 'array',
      maxItems: PERSONS_MAX,
      items: { type: 'string', minLength: 1, maxLength: USER_ID_CHARS_MAX },
    },
    all: { type: 'boolean' },
    dry_run: { description: 'Erase nothing: only answer what would remain, and until when.', type: 'boolean' },
  },
  additionalProperties: false,
} as const;

export const SQL_QUERY = {
  type: 'object',
  required: ['query'],
  properties: {
    query: { type: 'string', minLength: 1, maxLength: SQL_CHARS_MAX },
    params: { type: 'object', maxProperties: 100 },
  },
} as const;

export const NEW_REPLAY = {
  type: 'object',
  required: ['from'],
  properties: {
    from: { type: 'string', enum: ['enriched', 'archive', 'raw', 'tables'] },
    since: { ...time, description: 'Replace only records that were received at this time or later.' },
    until: { ...time, description: 'Replace only records that were received before this time.' },
    site_id: { type: 'string', minLength: 1, maxLength: 64 },
    records_per_second_max: { type: 'integer', minimum: 1, maximum: 1_000_000_000 },
    dry_run: { description: 'Only count the records; start nothing.', type: 'boolean' },
  },
} as const;

export const FILE_DIGEST_PATTERN = '^[0-9a-f]{64}$';
const line = { type: 'integer', minimum: 0, maximum: 1_000_000_000_000 } as const;
const lease = { type: 'string', minLength: 1, maxLength: 64 } as const;

/** The maximum number of hits or rows in one chunk of an import. */
const IMPORT_ITEMS_MAX = 5000;

export const NEW_IMPORT = {
  type: 'object',
  required: ['file_digest'],
  properties: {
    file_digest: {
      description: 'SHA-256 of the uncompressed bytes, hex',
      type: 'string',
      pattern: FILE_DIGEST_PATTERN,
    },
  },
} as const;

export const IMPORT_CHUNK = {
  type: 'object',
  required: ['lease', 'first_line', 'last_line'],
  properties: {
    lease,
    first_line: { ...line, minimum: 1 },
    last_line: { ...line, minimum: 1 },
    hits: {
      description: 'Pageviews of an access log.',
      type: 'array',
      maxItems: IMPORT_ITEMS_MAX,
      items: {
        type: 'object',
        required: ['line', 'timestamp', 'ip', 'url', 'referrer'],
        properties: {
          line: { ...line, minimum: 1 },
          timestamp: { type: 'integer', minimum: 0, exclusiveMaximum: END_MS },
          ip: { type: 'string', maxLength: 45 },
          user_agent: { description: 'Absent if the log has no field for it.', type: 'string', maxLength: 1024 },
          url: { type: 'string', minLength: 1, maxLength: 4096 },
          referrer: { type: 'string', maxLength: 4096 },
        },
      },
    },
    rows: {
      description: 'Instead of hits: rows of a dump, one for each line.',
      type: 'array',
      maxItems: IMPORT_ITEMS_MAX,
      items: { type: 'array' },
    },
  },
} as const;

export const IMPORT_FINISH = {
  type: 'object',
  required: ['lease', 'lines'],
  properties: { lease, lines: line },
} as const;
export const IMPORT_RELEASE = { type: 'object', required: ['lease'], properties: { lease } } as const;

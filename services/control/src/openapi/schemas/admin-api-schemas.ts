import { EXCLUSION_TYPE, KEEP, QUERY_ALLOW, SCOPES, SITE_LIMITS } from '@weir/domain/registry/admin-limits';
import { nullableText, object, type Schema, text } from '@weir/runtime/http/openapi';

const identityVerification = { required: { type: 'boolean' }, secret_created_at: nullableText };
const site = {
  site_id: text,
  name: text,
  domain: text,
  timezone: text,
  limits: SITE_LIMITS,
  query_allow: QUERY_ALLOW,
  keep: KEEP,
  kept: {
    ...object({ events: text, profiles: text, rollups: text }),
    description: 'The times that apply to the site: the times in keep, or else the setting for all sites.',
  },
  identity_verification: object(identityVerification),
  created_at: text,
};
const key = {
  ...{ key_id: text, site_id: text, name: text, scopes: SCOPES },
  legacy_identify: { type: 'boolean', description: 'The key can only identify, with the former form of the call.' },
  created_at: text,
  last_used_at: { ...nullableText, description: 'The hour of the last use; null: never used.' },
};

const DAY_COUNTS = object({ rows: { type: 'integer' }, visitors: { type: 'integer' }, sessions: { type: 'integer' } });

export const ADMIN_SCHEMAS: Readonly<Record<string, Schema>> = {
  Site: object(site),
  IdentitySecret: object({
    site_id: text,
    secret: { type: 'string', description: 'The whole text is the HMAC key, its prefix included. For servers only.' },
    ...identityVerification,
  }),
  ApiKey: object(key),
  NewApiKey: object({ ...key, key: text }),
  ExclusionRule: object({
    rule_id: text,
    site_id: text,
    type: EXCLUSION_TYPE,
    value: {
      ...text,
      description: 'Networks, countries and bots in one normal form; other values as they were sent.',
    },
    created_at: text,
    dropped: {
      type: ['integer', 'null'],
      minimum: 0,
      description: 'Hits that this rule dropped, as far back as the tables go; null while ClickHouse is not available.',
    },
    last_dropped_at: {
      type: ['string', 'null'],
      description: 'The minute of the last dropped hit, or created_at if that is later.',
    },
  }),
  ExclusionTest: object({
    dropped: { type: 'boolean' },
    reason: nullableText,
    rule: {
      ...object({ rule_id: text, type: EXCLUSION_TYPE, value: text }),
      type: ['object', 'null'],
      description: 'The rule that would drop the hit. If several rules match, this is the rule that counts the hit.',
    },
    country: { ...text, description: 'The country of the hit: the sent country, or else the country of the address.' },
    bot: { ...text, description: 'The name of the bot that sends this user agent; empty: a person may send it.' },
  }),
  Whoami: object({
    address: text,
    header: {
      type: ['string', 'null'],
      description: 'The header that gave the address; null: the connection gave it.',
    },
    connection: text,
    connection_trusted: { type: 'boolean' },
    country: nullableText,
    region: nullableText,
    city: nullableText,
    timezone: nullableText,
    geo: object({ data: text, problem: nullableText }),
    sent: { type: 'object', additionalProperties: text, description: 'Headers that name a client, trusted or not.' },
    trusted_proxies: { description: 'TRUSTED_PROXIES: networks, or a number of hops.', type: ['array', 'integer'] },
    client_ip_header: nullableText,
    advice: { type: 'array', items: text },
    crowded_sites: {
      type: ['array', 'null'],
      description:
        'Sites that get at least half of their recent hits from one network; null in a process without the gateway role.',
      items: object({
        site_id: text,
        hits: { type: 'integer' },
        percent: { type: 'integer' },
        private: {
          type: 'boolean',
          description: 'The network is private: it is a proxy, not a visitor on the public Internet.',
        },
      }),
    },
  }),
  Replay: object({
    replay_id: text,
    from: text,
    since: nullableText,
    until: nullableText,
    site_id: nullableText,
    records_per_second_max: { type: ['integer', 'null'] },
    started_at: text,
    phase: {
      type: 'string',
      enum: ['create', 'archive', 'copy', 'fill', 'follow', 'swap', 'swapped', 'undone', 'drop'],
    },
    undoing: { type: 'boolean', description: 'The former tables are filled up, to be exchanged back.' },
    wish: { ...nullableText, description: 'What was asked for and is not begun yet: swap, undo or drop.' },
    records_copied: {
      type: 'integer',
      description: 'The number of rows that were copied from the live tables or read from the archive.',
    },
    records_to_copy: { type: 'integer' },
    records_replayed: { type: 'integer' },
    records_to_replay: { type: 'integer', description: 'Live traffic adds to them.' },
    records_per_second: { type: 'number' },
    seconds_left: { type: ['integer', 'null'], description: 'Null: not known yet.' },
    problem: {
      ...nullableText,
      description: 'Why the replay does not continue. Null if it continues, or if another process leads the replay.',
    },
    refusal: { ...nullableText, description: 'Why the last swap did not happen.' },
    swapped_at: nullableText,
    undo_until: nullableText,
  }),
  ReplayDiff: object({
    replay_id: text,
    days: {
      type: 'array',
      description: 'Every day (UTC) with rows.',
      items: object({ day: text, old: DAY_COUNTS, new: DAY_COUNTS }),
    },
    changes: {
      type: 'array',
      description: 'Values whose number of records changed, largest change first.',
      items: object({
        step: { type: 'string', description: 'The step of the enricher that fills the column.' },
        column: text,
        value: text,
        old: { type: 'integer' },
        new: { type: 'integer' },
      }),
    },
    versions: {
      type: 'array',
      description:
        'Versions of the code, the lists and the geo data that made the rows of a day, where their numbers changed.',
      items: object({
        day: text,
        part: { type: 'string', description: 'steps, ua, lists, geo; enrichment: another form of versions.' },
        version: text,
        steps: {
          type: 'array',
          description: 'The steps of the enricher whose values the part can change.',
          items: text,
        },
        old: { type: 'integer' },
        new: { type: 'integer' },
      }),
    },
  }),
  ReplayPlan: object({
    dry_run: { type: 'boolean' },
    records_from_archive: { type: 'integer' },
    records_to_copy: { type: 'integer' },
    records_to_replay: { type: 'integer' },
    note: {
      ...nullableText,
      description: 'Why some records in the scope of the replay are copied. Null if no such record is copied.',
    },
  }),
  SqlResult: object({
    columns: { type: 'array', items: object({ name: text, type: text }) },
    rows: { type: 'array', items: { type: 'object' } },
  }),
};

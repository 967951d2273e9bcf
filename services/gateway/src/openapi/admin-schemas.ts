import { QUERY_ALLOW_NAME_CHARS_MAX, QUERY_ALLOW_NAMES_MAX } from '@weir/domain/query-allow';
import type { Schema } from './request-schemas.ts';
import { object, text } from './responses.ts';

const perMinute: Schema = { type: ['integer', 'null'], minimum: 1 };
const limits: Schema = object({ collect: perMinute, events: perMinute, identify: perMinute }, []);
const queryAllow: Schema = {
  type: ['array', 'null'],
  maxItems: QUERY_ALLOW_NAMES_MAX,
  uniqueItems: true,
  items: { type: 'string', minLength: 1, maxLength: QUERY_ALLOW_NAME_CHARS_MAX },
  description:
    'The query parameters that stored URLs, referrers and paths keep. Null: all; empty: none. Tags and click IDs are read before.',
};
const nullableText: Schema = { type: ['string', 'null'] };
const scopes: Schema = { type: 'array', items: { enum: ['events:write', 'identify:write'] } };
const exclusionType: Schema = { enum: ['ip', 'path', 'hostname', 'country', 'user_agent', 'visitor', 'bots'] };
const site = { site_id: text, name: text, domain: text, timezone: text, limits, query_allow: queryAllow };
const key = { key_id: text, name: text, scopes };

export const ADMIN_SCHEMAS: Readonly<Record<string, Schema>> = {
  Site: object(site),
  NewSite: object(site, ['name', 'domain']),
  SiteChange: object({ name: text, domain: text, timezone: text, limits, query_allow: queryAllow }, []),
  ApiKey: object(key),
  NewApiKey: object({ ...key, key: text }),
  KeyRequest: {
    ...object({ name: text, scopes, legacy_identify: { type: 'boolean' } }, ['name']),
    oneOf: [{ required: ['scopes'] }, { required: ['legacy_identify'] }],
  },
  ExclusionRule: object({
    rule_id: text,
    site_id: text,
    type: exclusionType,
    value: text,
    created_at: text,
    dropped: {
      type: ['integer', 'null'],
      minimum: 0,
      description: 'Hits that this rule dropped, as far back as the tables go; null while they can not be asked.',
    },
    last_dropped_at: { type: ['string', 'null'], description: 'The minute of the last one.' },
  }),
  NewExclusionRule: object({ type: exclusionType, value: text }, ['type']),
  Whoami: object({
    address: text,
    header: { type: ['string', 'null'], description: 'The header that gave the address; null: the connection did.' },
    connection: text,
    connection_trusted: { type: 'boolean' },
    country: nullableText,
    region: nullableText,
    city: nullableText,
    timezone: nullableText,
    geo: object({ data: text, problem: nullableText }),
    sent: { type: 'object', additionalProperties: text, description: 'Headers that name a client, believed or not.' },
    trusted_proxies: { description: 'TRUSTED_PROXIES: networks, or a number of hops.', type: ['array', 'integer'] },
    client_ip_header: nullableText,
    advice: { type: 'array', items: text },
    crowded_sites: {
      type: ['array', 'null'],
      description:
        'Sites at least half of whose recent hits come from one network; null where this process takes no hits.',
      items: object({
        site_id: text,
        hits: { type: 'integer' },
        percent: { type: 'integer' },
        private: {
          type: 'boolean',
          description: 'It is a private network: a proxy, and not a visitor of the open web.',
        },
      }),
    },
  }),
  SqlResult: object({
    columns: { type: 'array', items: object({ name: text, type: text }) },
    rows: { type: 'array', items: { type: 'object' } },
  }),
};

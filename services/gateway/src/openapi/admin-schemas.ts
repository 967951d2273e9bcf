import {
  EXCLUSION_TYPE,
  NEW_EXCLUSION,
  NEW_KEY,
  NEW_SITE,
  QUERY_ALLOW,
  SCOPES,
  SITE_CHANGE,
  SITE_LIMITS,
} from '@weir/domain/admin-schemas';
import type { Schema } from './request-schemas.ts';
import { object, text } from './responses.ts';

const nullableText: Schema = { type: ['string', 'null'] };
const site = { site_id: text, name: text, domain: text, timezone: text, limits: SITE_LIMITS, query_allow: QUERY_ALLOW };
const key = { key_id: text, name: text, scopes: SCOPES };

export const ADMIN_SCHEMAS: Readonly<Record<string, Schema>> = {
  Site: object(site),
  NewSite: NEW_SITE,
  SiteChange: SITE_CHANGE,
  ApiKey: object(key),
  NewApiKey: object({ ...key, key: text }),
  KeyRequest: {
    ...NEW_KEY,
    oneOf: [{ required: ['scopes'] }, { required: ['legacy_identify'] }],
  },
  ExclusionRule: object({
    rule_id: text,
    site_id: text,
    type: EXCLUSION_TYPE,
    value: text,
    created_at: text,
    dropped: {
      type: ['integer', 'null'],
      minimum: 0,
      description: 'Hits that this rule dropped, as far back as the tables go; null while they can not be asked.',
    },
    last_dropped_at: { type: ['string', 'null'], description: 'The minute of the last one.' },
  }),
  NewExclusionRule: NEW_EXCLUSION,
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

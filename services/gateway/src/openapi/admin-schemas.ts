import type { Schema } from './request-schemas.ts';
import { object, text } from './responses.ts';

const perMinute: Schema = { type: ['integer', 'null'], minimum: 1 };
const limits: Schema = object({ collect: perMinute, events: perMinute, identify: perMinute }, []);
const scopes: Schema = { type: 'array', items: { enum: ['events:write', 'identify:write'] } };
const exclusionType: Schema = { enum: ['ip', 'path', 'hostname', 'country', 'user_agent', 'visitor', 'bots'] };
const site = { site_id: text, name: text, domain: text, timezone: text, limits };
const key = { key_id: text, name: text, scopes };

export const ADMIN_SCHEMAS: Readonly<Record<string, Schema>> = {
  Site: object(site),
  NewSite: object(site, ['name', 'domain']),
  SiteChange: object({ name: text, domain: text, timezone: text, limits }, []),
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
  SqlResult: object({
    columns: { type: 'array', items: object({ name: text, type: text }) },
    rows: { type: 'array', items: { type: 'object' } },
  }),
};

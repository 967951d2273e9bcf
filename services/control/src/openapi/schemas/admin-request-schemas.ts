import { COUNTRY_CODES } from '@weir/domain/country-codes';
import { NEW_EXCLUSION, NEW_KEY, NEW_SITE, SCOPES, SITE_CHANGE, SQL_QUERY } from '@weir/domain/registry/admin-limits';
import type { Schema } from '@weir/runtime/http/openapi';
import { schemaRef } from '@weir/runtime/http/openapi';
import { CIDR_PATTERNS } from './cidr-patterns.ts';

// The request bodies of the admin API in the OpenAPI document. Weir validates with the simpler schemas of admin-limits.ts, and
// checks time zones, networks and alternative bodies in code. The published schemas express these rules too, so that clients see
// them. docs/api.md lists the rules that JSON Schema cannot express.

interface ObjectSchema extends Schema {
  readonly required?: readonly string[];
  readonly properties: Readonly<Record<string, Schema>>;
}

/** A body as callers may send it: optional fields may be null. Null counts as absent, unless the field's own schema allows null. */
export function publishBody(body: Schema): Schema {
  const { required = [], properties } = body as ObjectSchema;
  const published = Object.entries(properties).map(([name, schema]) => [
    name,
    required.includes(name) ? schema : orNull(schema),
  ]);
  return { ...body, properties: Object.fromEntries(published) };
}

function orNull(schema: Schema): Schema {
  if ('$ref' in schema || 'enum' in schema) return { anyOf: [schema, { type: 'null' }] };
  return { ...schema, type: [...new Set([schema.type, 'null'].flat())] };
}

function withProperties(schema: Schema, properties: Readonly<Record<string, Schema>>): Schema {
  return { ...schema, properties: { ...(schema as ObjectSchema).properties, ...properties } };
}

const timezone = schemaRef('TimeZone');
const { value: ruleValue } = NEW_EXCLUSION.properties;

/** One alternative of an exclusion rule. The format of the value depends on the type of the rule. */
function ruleOf(type: string, value: Schema): Schema {
  return { properties: { type: { const: type }, value: { ...ruleValue, ...value } }, required: ['type', 'value'] };
}

export const ADMIN_REQUEST_SCHEMAS: Readonly<Record<string, Schema>> = {
  TimeZone: {
    type: 'string',
    description:
      'An IANA time zone. Other names that the server’s time zone data knows are accepted too, in any letter case.',
    enum: ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')],
  },
  NewSite: publishBody(withProperties(NEW_SITE, { timezone })),
  SiteChange: publishBody(withProperties(SITE_CHANGE, { timezone })),
  KeyRequest: {
    ...NEW_KEY,
    properties: { name: NEW_KEY.properties.name },
    oneOf: [
      {
        required: ['scopes'],
        properties: { scopes: SCOPES, legacy_identify: { enum: [false, null] } },
      },
      {
        required: ['legacy_identify'],
        properties: { scopes: { type: 'null' }, legacy_identify: { const: true } },
      },
    ],
  },
  NewExclusionRule: {
    type: 'object',
    required: ['type'],
    properties: { type: NEW_EXCLUSION.properties.type },
    oneOf: [
      ruleOf('ip', { description: 'An IP address or a CIDR.', anyOf: CIDR_PATTERNS.map((pattern) => ({ pattern })) }),
      ruleOf('path', {
        description: 'A glob that begins with / or *.',
        // The value must not contain control characters.
        pattern: '^[/*][^\\u0000-\\u001f\\u007f-\\u009f]*$',
      }),
      ruleOf('hostname', {
        description: 'A host name, or a glob of one.',
        pattern: '^[\\p{L}\\p{N}._*-]{1,253}$',
      }),
      ruleOf('country', {
        description: 'ISO 3166-1 alpha-2, or XK (Kosovo). Lower case is accepted too.',
        enum: [...COUNTRY_CODES],
      }),
      ruleOf('user_agent', { description: 'A text that the user agent contains.', pattern: '\\S' }),
      ruleOf('visitor', { description: 'A visitor ID.', minLength: 1, maxLength: 64 }),
      {
        properties: {
          type: { const: 'bots' },
          value: {
            description: 'Not sent, or a word for all bots, in any letter case.',
            enum: ['', '*', 'all', 'true', null],
          },
        },
      },
    ],
  },
  SqlRequest: publishBody(
    withProperties(SQL_QUERY, {
      query: {
        ...SQL_QUERY.properties.query,
        description: 'One read-only statement.',
        // Matches the first word of the query, after white space, comments and brackets.
        pattern:
          '^(?:\\s|\\(|--[^\\n]*\\n|/\\*(?:[^*]|\\*(?!/))*\\*/)*(?:[Ss][Ee][Ll][Ee][Cc][Tt]|[Ww][Ii][Tt][Hh]|[Ff][Rr][Oo][Mm]|[Ss][Hh][Oo][Ww]|[Dd][Ee][Ss][Cc](?:[Rr][Ii][Bb][Ee])?|[Ee][Xx][Pp][Ll][Aa][Ii][Nn]|[Ee][Xx][Ii][Ss][Tt][Ss])(?![A-Za-z0-9_])',
        examples: ['SELECT count() FROM events'],
      },
    }),
  ),
};

import { END_MS, SECONDS_END, SECONDS_FROM } from '@weir/domain/ingest/timestamp';
import type { Schema } from '@weir/runtime/http/openapi';
import collectHit from '../../../../schemas/collect-hit.schema.json' with { type: 'json' };
import identity from '../../../../schemas/identity.schema.json' with { type: 'json' };
import serverEvent from '../../../../schemas/server-event.schema.json' with { type: 'json' };

const { required: _required, $defs: eventDefs, ...eventFields } = serverEvent;
const { $defs: identityDefs, $ref: _ref, $id: _id, required: identityRequired, ...identityHead } = identity;
const { $defs: hitDefs, allOf: hitRules, ...hitFields } = collectHit;

/** The schema of traits (custom fields of a user) that a server sends. The gateway refuses a request with an invalid trait key. */
const TRAITS: Schema = {
  additionalProperties: identityDefs.trait,
  propertyNames: {
    anyOf: [
      { pattern: identityDefs.trait_key.pattern },
      { enum: Object.keys(identityDefs.fields.properties).flatMap(namesOf) },
    ],
  },
};

/**
 * The request bodies in the OpenAPI document. They are made from the schemas with which the gateway validates. If a field has aliases, each alias is
 * listed as a separate field.
 */
export const REQUEST_SCHEMAS: Readonly<Record<string, Schema>> = {
  ServerEvent: {
    ...withTimestamp(publish('ServerEvent', eventFields, eventDefs)),
    anyOf: [{ required: ['name'] }, { required: ['event_name'] }, { required: ['eventName'] }],
  },
  Identity: {
    ...withoutDialect(identityHead),
    ...person('Identity', identityRequired),
    ...TRAITS,
  },
  BrowserIdentity: {
    description: identityDefs.browser_identity.description,
    ...person('BrowserIdentity', identityDefs.browser_identity.required, identityDefs.browser_identity.properties),
    // A trait with an invalid key is not stored, so its value may be anything.
    patternProperties: { [identityDefs.trait_key.pattern]: identityDefs.trait },
  },
  CollectHit: { ...publish('CollectHit', hitFields, hitDefs), allOf: hitRules },
};

/** Adds the ranges of numeric timestamps. A timestamp can also be a text, but no pattern can describe all accepted texts. */
function withTimestamp(schema: Schema): Schema {
  const properties = schema.properties as Readonly<Record<string, Schema>>;
  const timestamp = {
    description: serverEvent.properties.timestamp.description,
    anyOf: [
      { type: 'string' },
      { type: 'number', minimum: 0, exclusiveMaximum: SECONDS_FROM },
      { type: 'number', minimum: SECONDS_END, exclusiveMaximum: END_MS },
      { type: 'null' },
    ],
  };
  return { ...schema, properties: { ...properties, timestamp } };
}

function person(name: string, required: readonly string[], more: Readonly<Record<string, Schema>> = {}): Schema {
  const { fields } = identityDefs;
  return {
    ...publish(name, { ...fields, properties: { ...fields.properties, ...more } }, {}),
    allOf: required.map((field) => ({ anyOf: namesOf(field).map((alias) => ({ required: [alias] })) })),
  };
}

function namesOf(field: string): string[] {
  const properties: Readonly<Record<string, object>> = identityDefs.fields.properties;
  const { 'x-aliases': aliases = [] } = (properties[field] ?? {}) as { 'x-aliases'?: readonly string[] };
  return [field, ...aliases];
}

interface ObjectSchema extends Schema {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

function publish(name: string, schema: ObjectSchema, defs: Readonly<Record<string, Schema>>): Schema {
  const required = schema.required ?? [];
  const properties: Record<string, Schema> = {};
  for (const [field, raw] of Object.entries(schema.properties)) {
    const { 'x-aliases': aliases, ...shown } = resolved(raw, defs) as { 'x-aliases'?: readonly string[] };
    properties[field] = required.includes(field) ? shown : orNull(shown, defs);
    for (const alias of aliases ?? []) {
      properties[alias] = {
        description: `Another name of ${field}.`,
        $ref: `#/components/schemas/${name}/properties/${field}`,
      };
    }
  }
  return { ...withoutDialect(schema), properties };
}

function resolved(schema: Schema, defs: Readonly<Record<string, Schema>>): Schema {
  const { $ref, ...rest } = schema;
  if (typeof $ref !== 'string') return schema;
  if ($ref.startsWith('identity.schema.json')) return { ...rest, $ref: '#/components/schemas/BrowserIdentity' };
  return { ...rest, ...defs[$ref.replace('#/$defs/', '')] };
}

/** Allows null for optional fields, and replaces Weir's own formats by standard ones. */
function orNull(schema: Schema, defs: Readonly<Record<string, Schema>>): Schema {
  const { type, format, properties, ...rest } = schema;
  if ('$ref' in rest) return { anyOf: [rest, { type: 'null' }] };
  return {
    ...rest,
    type: [...[type].flat(), 'null'],
    ...(format === 'ip' ? { anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }, { type: 'null' }] } : {}),
    ...(format === 'http-url' ? { format: 'uri' } : {}),
    ...(properties === undefined ? {} : { properties: nested(properties as ObjectSchema['properties'], defs) }),
  };
}

function nested(properties: ObjectSchema['properties'], defs: Readonly<Record<string, Schema>>): Schema {
  const shown: Record<string, Schema> = {};
  for (const [field, raw] of Object.entries(properties)) {
    const { 'x-aliases': aliases, ...schema } = resolved(raw, defs) as { 'x-aliases'?: readonly string[] };
    for (const name of [field, ...(aliases ?? [])]) shown[name] = orNull(schema, defs);
  }
  return shown;
}

function withoutDialect({ $schema: _schema, $id: _own, required, ...schema }: Schema): Schema {
  const own = Array.isArray(required) && !required.includes('name') ? { required } : {};
  return { ...schema, ...own };
}

import { SUPPORTED_ENCODINGS } from './content-encodings.ts';

/** A JSON Schema, or any other object of an OpenAPI document. */
export type Schema = Readonly<Record<string, unknown>>;

/** The part of an OpenAPI document that one service describes. */
export interface OpenApiPart {
  readonly tags: readonly string[];
  readonly paths: Readonly<Record<string, Schema>>;
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly securitySchemes: Readonly<Record<string, Schema>>;
}

/** Joins all parts to one OpenAPI 3.1 document. */
export function joinOpenApi(parts: readonly OpenApiPart[]): Schema {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Weir',
      version: '1.0.0',
      summary: 'Analytics ingestion that never loses and never doubles an event.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(parts.flatMap(({ tags }) => tags))].map((name) => ({ name })),
    paths: Object.assign({}, ...parts.map(({ paths }) => paths)),
    components: {
      securitySchemes: Object.assign({}, ...parts.map(({ securitySchemes }) => securitySchemes)),
      schemas: Object.assign({ ErrorEnvelope: ERROR_ENVELOPE }, ...parts.map(({ schemas }) => schemas)),
    },
  };
}

export const text: Schema = { type: 'string' };
export const nullableText: Schema = { type: ['string', 'null'] };
export const texts: Schema = { type: 'array', items: text };
export const count: Schema = { type: 'integer', minimum: 0 };
export const time: Schema = { type: 'string', format: 'date-time' };
export const orNull = (schema: Schema): Schema => ({ anyOf: [schema, { type: 'null' }] });

export function object(properties: Readonly<Record<string, Schema>>, required = Object.keys(properties)): Schema {
  return { type: 'object', properties, required };
}

export function constant(value: string | number | boolean): Schema {
  return { const: value };
}

export function schemaRef(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** `description`: facts about the body that the schema does not contain. */
export function jsonBody(schema: Schema, { required = true, description = '' } = {}): Schema {
  return { ...(description === '' ? {} : { description }), required, content: { 'application/json': { schema } } };
}

export function jsonResponse(description: string, schema: Schema, headers?: Schema): Schema {
  return { description, ...(headers ? { headers } : {}), content: { 'application/json': { schema } } };
}

export function emptyResponse(description: string, headers?: Schema): Schema {
  return { description, ...(headers ? { headers } : {}) };
}

/** The schema of the body of a successful response: `{"status":"success","data":…}`. */
export function successBody(data: Schema): Schema {
  return object({ status: constant('success'), data });
}

const ERROR_ENVELOPE = object({
  status: constant('error'),
  error: object({ code: { type: 'integer' }, message: text }),
});
/** The schema of an error body: `{"status":"error","error":{"code":…,"message":…}}`. */
export const ENVELOPE: Schema = schemaRef('ErrorEnvelope');

const seconds: Schema = { schema: { type: 'integer', minimum: 1 } };
export const RETRY_AFTER: Schema = { 'Retry-After': { description: 'Seconds to wait.', ...seconds } };
export const RATE_LIMIT: Schema = {
  'RateLimit-Limit': { description: 'Requests per minute.', schema: { type: 'integer' } },
  'RateLimit-Remaining': { description: 'Requests left in this window.', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until the window ends.', ...seconds },
};
export const ALLOW: Schema = { Allow: { description: 'The methods of this path.', schema: text } };
export const ACCEPT_ENCODING: Schema = {
  'Accept-Encoding': { description: 'The supported encodings.', schema: constant(SUPPORTED_ENCODINGS) },
};

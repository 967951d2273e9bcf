import type { Schema } from './request-schemas.ts';

export const text: Schema = { type: 'string' };

export function object(properties: Readonly<Record<string, Schema>>, required = Object.keys(properties)): Schema {
  return { type: 'object', properties, required };
}

export function constant(value: string | number | boolean): Schema {
  return { const: value };
}

export function json(description: string, schema: Schema, headers?: Schema): Schema {
  return { description, ...(headers ? { headers } : {}), content: { 'application/json': { schema } } };
}

export function noBody(description: string, headers?: Schema): Schema {
  return { description, ...(headers ? { headers } : {}) };
}

export function success(data: Schema): Schema {
  return object({ status: constant('success'), data });
}

const seconds: Schema = { schema: { type: 'integer', minimum: 1 } };
export const RETRY_AFTER: Schema = { 'Retry-After': { description: 'Seconds to wait.', ...seconds } };
export const RATE_LIMIT: Schema = {
  'RateLimit-Limit': { description: 'Requests a minute.', schema: { type: 'integer' } },
  'RateLimit-Remaining': { description: 'Requests left in this window.', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until the window ends.', ...seconds },
};
export const ALLOW: Schema = { Allow: { description: 'The methods of this path.', schema: text } };
export const CORS: Schema = { 'Access-Control-Allow-Origin': { schema: constant('*') } };

export const RESPONSE_SCHEMAS: Readonly<Record<string, Schema>> = {
  ErrorEnvelope: object({ status: constant('error'), error: object({ code: { type: 'integer' }, message: text }) }),
  IdentifyError: object({ error: text }),
};
export const ENVELOPE: Schema = { $ref: '#/components/schemas/ErrorEnvelope' };
export const IDENTIFY_ERROR: Schema = { $ref: '#/components/schemas/IdentifyError' };

export function body(schema: Schema): Schema {
  return { required: true, content: { 'application/json': { schema } } };
}

export function reference(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

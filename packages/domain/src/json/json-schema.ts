import { isIP } from 'node:net';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import collectHitSchema from '../../../../schemas/collect-hit.schema.json' with { type: 'json' };
import identitySchema from '../../../../schemas/identity.schema.json' with { type: 'json' };
import serverEventSchema from '../../../../schemas/server-event.schema.json' with { type: 'json' };
import { nameAsSent } from '../ingest/aliases.ts';
import { FieldError } from '../ingest/field-error.ts';
import { isImageUrl } from '../people/image-url.ts';
import type { Json, JsonObject } from './json.ts';

/**
 * Compiles the schemas once. Never set `allErrors`: a body of an attacker can have 450,000 errors. Never set `coerceTypes` or
 * `removeAdditional`: they change the validated object. ajv counts code points in maxLength, as docs/api.md defines "chars".
 */
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, strictRequired: false, strictTypes: false });
ajv.addVocabulary(['x-aliases', 'x-json-bytes-max', 'x-depth-max', 'x-keys-max', 'x-traits-max', 'x-cut-chars']);
ajv.addFormat('ip', (text: string) => isIP(text) !== 0);
ajv.addFormat('http-url', isImageUrl);

ajv.addSchema(identitySchema).addSchema(serverEventSchema).addSchema(collectHitSchema);

export interface Validator {
  (data: unknown): boolean;
  readonly errors?: readonly ErrorObject[] | null;
}

export function validator(reference: string): Validator {
  const validate = ajv.getSchema(reference);
  if (validate === undefined) throw new TypeError(`no such schema: ${reference}`);
  return validate as Validator;
}

/** Converts the first error of a validation. A field can have aliases: the result has the name under which `body` contains the field. */
export function toFieldError(
  errors: readonly ErrorObject[] | null | undefined,
  body: JsonObject,
  fields: Readonly<Record<string, object>>,
): FieldError {
  const error = errors?.[0];
  if (error === undefined) throw new TypeError('a failed validation without an error');
  const names = error.instancePath.split('/').slice(1);
  if (error.keyword === 'required') names.push(String(error.params.missingProperty));
  const last = names.pop() ?? '';
  let owner: JsonObject = body;
  for (const name of names) owner = (owner[name] ?? {}) as JsonObject;
  const field = error.keyword === 'required' ? last : nameAsSent(owner, last, aliasesOf(fields[last]));
  return new FieldError([...names, field].join('.'), rule(error, owner[field]));
}

function aliasesOf(field: { readonly 'x-aliases'?: readonly string[] } | undefined): readonly string[] {
  return field?.['x-aliases'] ?? [];
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a finite number',
  boolean: 'a boolean',
  object: 'an object',
  null: 'null',
};

export function rule(error: ErrorObject, value: Json | undefined): string {
  const { params } = error;
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'type':
      return `must be ${listed([params.type].flat().map((type: string) => TYPE_NAMES[type] ?? type))}`;
    case 'maxLength':
      return `must be at most ${params.limit} chars`;
    case 'minLength':
      return 'must not be empty';
    case 'enum':
      return `must be one of ${params.allowedValues.join(', ')}`;
    case 'format':
      return params.format === 'ip' ? 'must be an IPv4 or IPv6 address' : 'must be an http or https URL';
    case 'pattern':
      // The pattern \S means "not only white space". A name that consists only of white space is a missing name.
      return params.pattern === '\\S' && typeof value === 'string' ? 'is required' : `must match ${params.pattern}`;
    default:
      return error.message ?? 'is invalid';
  }
}

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

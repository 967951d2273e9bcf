import schema from '../../../schemas/identity.schema.json' with { type: 'json' };
import { sent } from './aliases.ts';
import { keysInTextOrder } from './body-text.ts';
import { cutChars, textOf } from './context.ts';
import { FieldError } from './field-error.ts';
import type { Json, JsonObject } from './json.ts';
import { rule, toFieldError, validator } from './json-schema.ts';

/** An identity (api.md 2.2), read. Empty text: not sent. */
export interface Identity {
  readonly visitorId: string;
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  readonly image: string;
  readonly paymentCustomerId: string;
  readonly siteId: string;
  /** The first 25 in body order. A null removes a trait that was stored earlier. */
  readonly traits: JsonObject;
  readonly droppedTraits: number;
}

/** The text of the request's body, asked for only where JavaScript's objects don't keep its order. */
export type BodyText = () => string;

const FIELDS = schema.$defs.fields.properties;
/** A message shows this much of a key that is none. */
const KEY_SHOWN_CHARS = 80;
const TRAITS_MAX = schema['x-traits-max'];
const FIELD_NAMES: ReadonlySet<string> = new Set(
  Object.entries(FIELDS).flatMap(([name, field]) => [name, ...('x-aliases' in field ? field['x-aliases'] : [])]),
);

const validate = validator('identity.schema.json');
const validateBrowserIdentity = validator('identity.schema.json#/$defs/browser_identity');
const validateTraitKey = validator('identity.schema.json#/$defs/trait_key');
const validateTrait = validator('identity.schema.json#/$defs/trait');

/** Reads the body of POST /api/identify. */
export function readIdentity(body: JsonObject, text?: BodyText): Identity | FieldError {
  const fields = pickIdentity(body);
  if (!validate(fields)) {
    const error = toFieldError(validate.errors, body, FIELDS);
    return error.field.startsWith('payment') ? new FieldError('invalid customer ID:', error.message) : error;
  }
  return withTraits(fields, body, () => keysInTextOrder(text?.() ?? '{}'));
}

/** Reads the `identity` object of a collect hit: as 2.2, but the visitor is the hit's own. */
export function readBrowserIdentity(identity: JsonObject, bodyText?: BodyText): Identity | FieldError {
  const fields = pickIdentity(identity);
  if (!validateBrowserIdentity(fields)) return toFieldError(validateBrowserIdentity.errors, identity, FIELDS);
  return withTraits(fields, identity, () => keysInTextOrder(bodyText?.() ?? '{}', 'identity'));
}

function pickIdentity(body: JsonObject) {
  return {
    visitor_id: sent(body.visitor_id, body.visitorId),
    user_id: sent(body.user_id, body.userId),
    email: sent(body.email),
    name: sent(body.name),
    image: sent(body.image),
    payment_customer_id: sent(body.payment_customer_id, body.paymentCustomerId),
    site_id: sent(body.site_id, body.siteId),
  };
}

function withTraits(
  fields: ReturnType<typeof pickIdentity>,
  body: JsonObject,
  keysOfText: () => readonly string[],
): Identity | FieldError {
  let keys: string[] = [];
  let reordered = false;
  for (const key in body) {
    if (FIELD_NAMES.has(key)) continue;
    const broken = brokenTraitRule(key, body[key] as Json);
    if (broken !== undefined) return broken;
    reordered ||= /^\d/.test(key);
    keys.push(key);
  }
  const droppedTraits = Math.max(keys.length - TRAITS_MAX, 0);
  if (droppedTraits > 0 && reordered) {
    const inText = keysOfText().filter((key) => !FIELD_NAMES.has(key));
    if (inText.length === keys.length) keys = inText;
  }
  return {
    visitorId: textOf(fields.visitor_id),
    userId: textOf(fields.user_id),
    email: textOf(fields.email),
    name: textOf(fields.name),
    image: textOf(fields.image),
    paymentCustomerId: textOf(fields.payment_customer_id),
    siteId: textOf(fields.site_id),
    // fromEntries defines properties, so that a trait called __proto__ is a trait.
    traits: Object.fromEntries(keys.slice(0, TRAITS_MAX).map((key) => [key, body[key] as Json])),
    droppedTraits,
  };
}

function brokenTraitRule(key: string, value: Json): FieldError | undefined {
  if (!validateTraitKey(key)) {
    return new FieldError(
      `trait "${cutChars(key, KEY_SHOWN_CHARS)}"`,
      `must have a key that matches ${schema.$defs.trait_key.pattern}`,
    );
  }
  if (validateTrait(value)) return undefined;
  const error = validateTrait.errors?.[0];
  return new FieldError(`trait "${key}"`, error === undefined ? 'is invalid' : rule(error, value));
}

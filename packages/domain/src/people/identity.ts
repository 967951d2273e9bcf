import schema from '../../../../schemas/identity.schema.json' with { type: 'json' };
import { sent, sentId } from '../ingest/aliases.ts';
import { cutChars, textOf } from '../ingest/context.ts';
import { FieldError } from '../ingest/field-error.ts';
import type { Json, JsonObject } from '../json/json.ts';
import { rule, toFieldError, validator } from '../json/json-schema.ts';
import { keysInTextOrder } from '../records/body-text.ts';
import { isImageUrl, storedImageUrl } from './image-url.ts';

/** An identity (docs/api.md, Fields of an identity) after it was read. A text that was not sent is empty. */
export interface Identity {
  readonly visitorId: string;
  readonly userId: string;
  readonly email: string;
  readonly name: string;
  readonly image: string;
  readonly paymentCustomerId: string;
  readonly siteId: string;
  /** The first `TRAITS_MAX` traits, in the order of the body. A trait that is null removes an earlier trait with this key. */
  readonly traits: JsonObject;
  /** The number of traits that were left out because there were more than `TRAITS_MAX`. */
  readonly droppedTraits: number;
  /**
   * The number of traits that were left out because their key is invalid. Always 0 for an identify of a server, which is refused because of
   * such a trait.
   */
  readonly invalidTraits: number;
  /** The signature of the user ID that a browser sent. Empty if it was not sent, for an identify of a server, and for a body from the log. */
  readonly signature: string;
}

/**
 * `request`: a body that a caller sends now. `record`: a body from the log, which an older version of Weir may have accepted under
 * weaker rules. In a `record`, an invalid image is left out, and an ID that consists only of white space is valid.
 */
export type IdentitySource = 'request' | 'record';

/**
 * Returns the text of the request's body. It is called only if the text is needed: for the order of the keys, which JavaScript's objects do
 * not keep, or for long integers, which JSON.parse rounds.
 */
export type BodyText = () => string;

const FIELDS = schema.$defs.fields.properties;
/** A message shows at most this many characters of an invalid key. */
const KEY_SHOWN_CHARS = 80;
/** The highest number of custom traits of an identify. */
export const TRAITS_MAX = schema['x-traits-max'];
const FIELD_NAMES: ReadonlySet<string> = new Set(
  Object.entries(FIELDS).flatMap(([name, field]) => [name, ...('x-aliases' in field ? field['x-aliases'] : [])]),
);

const BROWSER_FIELDS = { ...FIELDS, ...schema.$defs.browser_identity.properties };
const BROWSER_FIELD_NAMES: ReadonlySet<string> = new Set([...FIELD_NAMES, 'signature']);

const validate = validator('identity.schema.json');
const validateBrowserIdentity = validator('identity.schema.json#/$defs/browser_identity');
const validateTraitKey = validator('identity.schema.json#/$defs/trait_key');
const validateTrait = validator('identity.schema.json#/$defs/trait');

/** Reads the body of POST /api/identify. */
export function readIdentity(
  body: JsonObject,
  text?: BodyText,
  source: IdentitySource = 'request',
): Identity | FieldError {
  const fields = pickIdentity(body, source);
  if (!validate(fields)) {
    const error = toFieldError(validate.errors, body, FIELDS);
    return error.field.startsWith('payment') ? new FieldError('invalid customer ID:', error.message) : error;
  }
  return withTraits(fields, body, FIELD_NAMES, 'refuse', () => keysInTextOrder(text?.() ?? '{}'));
}

/**
 * Reads the `identity` object of a collect hit. Unlike `readIdentity`, it needs no visitor ID, because the hit has one. It also reads
 * `signature`, and leaves out traits with an invalid key instead of refusing the body.
 */
export function readBrowserIdentity(
  identity: JsonObject,
  bodyText?: BodyText,
  source: IdentitySource = 'request',
): Identity | FieldError {
  // The signature in a record is not read, because the gateway has checked it. In records of older versions, `signature` is a trait with any value.
  const signature = source === 'request' ? sent(identity.signature) : undefined;
  const fields = { ...pickIdentity(identity, source), signature };
  if (!validateBrowserIdentity(fields)) return toFieldError(validateBrowserIdentity.errors, identity, BROWSER_FIELDS);
  return withTraits(fields, identity, BROWSER_FIELD_NAMES, 'leave out', () =>
    keysInTextOrder(bodyText?.() ?? '{}', 'identity'),
  );
}

function pickIdentity(body: JsonObject, source: IdentitySource) {
  // Reads the first of the two fields that is not blank. If both are blank, a record gets the blank ID, because older versions of Weir
  // accepted it.
  const id = (first: Json | undefined, second: Json | undefined) =>
    sentId(first, second) ?? (source === 'record' ? sent(first, second) : undefined);
  const image = sent(body.image);
  const isWeak = source === 'record' && typeof image === 'string' && !isImageUrl(image);
  return {
    visitor_id: id(body.visitor_id, body.visitorId),
    user_id: id(body.user_id, body.userId),
    email: sent(body.email),
    name: sent(body.name),
    image: isWeak ? undefined : image,
    payment_customer_id: sent(body.payment_customer_id, body.paymentCustomerId),
    site_id: sent(body.site_id, body.siteId),
  };
}

function withTraits(
  fields: ReturnType<typeof pickIdentity> & { readonly signature?: Json | undefined },
  body: JsonObject,
  fieldNames: ReadonlySet<string>,
  invalidKeys: 'refuse' | 'leave out',
  keysOfText: () => readonly string[],
): Identity | FieldError {
  const keys = traitKeys(body, fieldNames, keysOfText);
  const traits: [string, Json][] = [];
  let invalidTraits = 0;
  // Traits beyond the limit are not validated.
  let read = 0;
  for (; read < keys.length && traits.length < TRAITS_MAX; read++) {
    const key = keys[read] as string;
    const value = body[key] as Json;
    if (invalidKeys === 'leave out' && !validateTraitKey(key)) {
      invalidTraits += 1;
      continue;
    }
    const broken = brokenTraitRule(key, value);
    if (broken !== undefined) return broken;
    traits.push([key, value]);
  }
  return {
    visitorId: textOf(fields.visitor_id),
    userId: textOf(fields.user_id),
    email: textOf(fields.email),
    name: textOf(fields.name),
    image: storedImageUrl(textOf(fields.image)),
    paymentCustomerId: textOf(fields.payment_customer_id),
    siteId: textOf(fields.site_id),
    // Object.fromEntries defines properties, so a trait with the key __proto__ is an ordinary trait.
    traits: Object.fromEntries(traits),
    droppedTraits: keys.length - read,
    invalidTraits,
    signature: textOf(fields.signature),
  };
}

/**
 * The keys of the traits. If there are more than TRAITS_MAX, they are in the order of the body, because only the first ones are stored.
 * `Object.keys` would put integer-like keys first.
 */
function traitKeys(
  body: JsonObject,
  fieldNames: ReadonlySet<string>,
  keysOfText: () => readonly string[],
): readonly string[] {
  const keys = Object.keys(body).filter((key) => !fieldNames.has(key));
  if (keys.length <= TRAITS_MAX || !keys.some((key) => /^\d/.test(key))) return keys;
  const inText = keysOfText().filter((key) => !fieldNames.has(key));
  return inText.length === keys.length ? inText : keys;
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

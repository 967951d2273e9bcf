import schema from '../../../../schemas/server-event.schema.json' with { type: 'json' };
import type { Json, JsonObject } from '../json/json.ts';
import { toFieldError, validator } from '../json/json-schema.ts';
import { isSent, sent, sentId, sentValue } from './aliases.ts';
import { pageContext, pickContext, type ServerContext } from './context.ts';
import { FieldError } from './field-error.ts';
import { brokenPropertiesRule } from './properties.ts';
import { parseTimestamp, TIMESTAMP_RULE } from './timestamp.ts';
import { type EventValue, readValue } from './value.ts';

/**
 * A server event (docs/api.md, Fields of a server event) after it was read. Each field has one name and one place
 * here. Callers can also send it under other names, and fields of `context` at the top level. A null counts as absent. An absent text is empty.
 */
export interface ServerEvent extends EventValue {
  readonly name: string;
  /** Contains `external_id` too, if it was sent. `undefined` if there are no properties. */
  readonly properties: JsonObject | undefined;
  readonly visitorId: string;
  readonly sessionId: string;
  readonly userId: string;
  readonly externalId: string;
  readonly idempotencyKey: string;
  /** Unix milliseconds. If it is `undefined`, the time of receipt counts. */
  readonly timestamp: number | undefined;
  readonly context: ServerContext;
}

/** The fields of a server event after the checks, under their snake_case names. An absent field is `undefined`. */
export interface ServerEventFields {
  readonly name: string;
  readonly value: number | string | undefined;
  readonly properties: JsonObject | undefined;
  readonly visitor_id: string | undefined;
  readonly session_id: string | undefined;
  readonly user_id: string | undefined;
  readonly external_id: string | undefined;
  readonly idempotency_key: string | undefined;
  readonly timestamp: number | string | undefined;
  readonly context: Readonly<Partial<Record<string, string>>>;
}

const validate = validator('server-event.schema.json');
const FIELDS = { ...schema.properties.context.properties, ...schema.properties };

/**
 * Checks a body against every rule of docs/api.md, POST /api/v1/events. Returns the fields, or the first rule that is broken.
 * `headerKey`: the header `Idempotency-Key`; empty if it was not sent.
 */
export function checkServerEvent(body: JsonObject, headerKey = ''): ServerEventFields | FieldError {
  const bodyKey = sent(body.idempotency_key, body.idempotencyKey);
  const fields = {
    name: sentId(body.name, body.event_name, body.eventName),
    value: sent(body.value, body.event_value, body.eventValue),
    properties: sentProperties(body),
    visitor_id: sentId(body.visitor_id, body.visitorId),
    session_id: sent(body.session_id, body.sessionId),
    user_id: sentId(body.user_id, body.userId),
    external_id: sent(body.external_id, body.externalId),
    idempotency_key: bodyKey ?? sent(headerKey),
    timestamp: sent(body.timestamp),
    context: pickContext(body),
  };
  if (!validate(fields)) {
    const error = toFieldError(validate.errors, body, FIELDS);
    if (error.field === 'idempotency_key' && bodyKey === undefined) return new FieldError(KEY_HEADER, error.rule);
    return asSent(error, body);
  }
  if (headerKey !== '' && bodyKey !== undefined && bodyKey !== headerKey) {
    return new FieldError(KEY_HEADER, `must equal ${nameOf(body, KEY_NAMES)} in the body when both are sent`);
  }
  const checked = fields as unknown as ServerEventFields;
  if (checked.properties !== undefined) {
    const broken = brokenPropertiesRule(checked.properties, schema.properties.properties);
    if (broken !== undefined) return new FieldError(nameOfProperties(body), broken);
  }
  if (checked.timestamp !== undefined && parseTimestamp(checked.timestamp) === undefined) {
    return new FieldError('timestamp', TIMESTAMP_RULE);
  }
  return checked;
}

/** The custom properties, which can be sent under several names. */
export function sentProperties(body: JsonObject): Json | undefined {
  return sentValue(body.properties, body.metadata, body.event_properties, body.eventProperties);
}

export function readServerEvent(body: JsonObject, headerKey = ''): ServerEvent | FieldError {
  const fields = checkServerEvent(body, headerKey);
  if (fields instanceof FieldError) return fields;
  const { context, external_id: externalId = '' } = fields;
  const { value, valueText } = readValue(fields.value);
  const { url = '', pathname = '', hostname = '', referrer = '' } = context;
  const page = pageContext(url, pathname, hostname, referrer);
  return {
    name: fields.name,
    value,
    valueText,
    properties: externalId === '' ? fields.properties : { ...fields.properties, external_id: externalId },
    visitorId: fields.visitor_id ?? '',
    sessionId: fields.session_id ?? '',
    userId: fields.user_id ?? '',
    externalId,
    idempotencyKey: fields.idempotency_key ?? '',
    timestamp: fields.timestamp === undefined ? undefined : parseTimestamp(fields.timestamp),
    context: {
      url: page.url,
      pathname: page.pathname,
      hostname: page.hostname,
      referrer: page.referrer,
      ip: context.ip ?? '',
      userAgent: context.user_agent ?? '',
      deviceType: context.device_type ?? '',
      platform: context.platform ?? '',
    },
  };
}

const KEY_HEADER = 'Idempotency-Key';
const KEY_NAMES = ['idempotency_key', ...schema.properties.idempotency_key['x-aliases']];
const PROPERTIES_NAMES = ['properties', ...schema.properties.properties['x-aliases']];

/** The first of these names that was sent with a value other than null and an empty text, for error messages. */
function nameOf(body: JsonObject, names: readonly string[]): string {
  return names.find((name) => (body[name] ?? '') !== '') ?? names[0] ?? '';
}

/** The name under which the properties were sent, for error messages. */
export function nameOfProperties(body: JsonObject): string {
  return nameOf(body, PROPERTIES_NAMES);
}

/** If a URL field was sent at the top level and not in `context`, the error names it without `context.`. */
function asSent(error: FieldError, body: JsonObject): FieldError {
  const [owner, name = ''] = error.field.split('.');
  if (owner !== 'context' || !SHORTCUTS.has(name)) return error;
  const context = (body.context ?? {}) as JsonObject;
  return isSent(context[name]) ? error : new FieldError(name, error.rule);
}
const SHORTCUTS: ReadonlySet<string> = new Set(['url', 'pathname', 'hostname', 'referrer']);

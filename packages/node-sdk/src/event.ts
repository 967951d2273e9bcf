export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/**
 * Where an event happened. If `ip` or `userAgent` is missing, Weir uses the address or the user agent of the HTTP request that delivers the event.
 * These are the ones of your server, not of the visitor.
 */
export interface EventContext {
  readonly url?: string;
  readonly pathname?: string;
  readonly hostname?: string;
  readonly referrer?: string;
  readonly ip?: string;
  readonly userAgent?: string;
  readonly deviceType?: string;
  readonly platform?: string;
}

/** The fields of POST /api/v1/events (docs/api.md, Fields of a server event), without the name. */
export interface EventFields {
  readonly value?: number | string;
  readonly properties?: { readonly [key: string]: JsonValue };
  readonly visitorId?: string;
  readonly sessionId?: string;
  readonly userId?: string;
  readonly externalId?: string;
  /** This key makes retries safe. Default, also for an empty text: a random UUID. */
  readonly idempotencyKey?: string;
  /** Default: the time of the call. */
  readonly timestamp?: string | number | Date;
  readonly context?: EventContext;
}

/** The fields of POST /api/identify (docs/api.md, Fields of an identity), without visitor and user. Every other key is a trait. */
export interface IdentityFields {
  readonly email?: string;
  readonly name?: string;
  readonly image?: string;
  readonly paymentCustomerId?: string;
  readonly [trait: string]: string | number | boolean | null | undefined;
}

/** A call that waits to be sent. `id` identifies it in the queue file. */
export interface QueuedCall {
  readonly id: string;
  readonly kind: 'event' | 'identify';
  readonly body: string;
}

export interface Undelivered {
  readonly call: QueuedCall;
  readonly reason: string;
  /** The HTTP status, if Weir answered. */
  readonly status?: number;
}

/** A value of a call would be null in JSON. The message names the field. */
export class LostValueError extends Error {}

/**
 * Like `JSON.stringify`, but throws a `LostValueError` for a number that is NaN or infinite and for an invalid `Date`. JSON would contain null
 * instead, without an error: Weir would give an event another time, and remove a stored trait.
 */
export function toJson(body: object): string {
  const json = JSON.stringify(body);
  // The search for lost values takes much longer than JSON.stringify alone, and few bodies contain this text.
  if (json.includes('null')) JSON.stringify(body, refuseLostValue);
  return json;
}

function refuseLostValue(this: Record<string, unknown>, key: string, value: unknown): unknown {
  // For a `Date`, `value` is already a text, or null if the date is invalid.
  const given = this[key];
  if (given instanceof Date && value === null) throw new LostValueError(`${key} must be a valid date`);
  if (typeof value !== 'number' || Number.isFinite(value)) return value;
  throw new LostValueError(`${key} must be a finite number, not ${value}`);
}

export function toEventBody(name: string, fields: EventFields, idempotencyKey: string, now: number): string {
  const { context, timestamp = now, userId, visitorId, sessionId, externalId, value, properties } = fields;
  return toJson({
    name,
    value,
    properties,
    visitor_id: visitorId,
    session_id: sessionId,
    user_id: userId,
    external_id: externalId,
    idempotency_key: idempotencyKey,
    timestamp,
    context: context && {
      url: context.url,
      pathname: context.pathname,
      hostname: context.hostname,
      referrer: context.referrer,
      ip: context.ip,
      user_agent: context.userAgent,
      device_type: context.deviceType,
      platform: context.platform,
    },
  });
}

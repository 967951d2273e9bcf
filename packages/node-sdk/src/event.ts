export type JsonValue = string | number | boolean | null | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** Where an event was seen; what is not given is read off the request that carries it. */
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

/** The fields of POST /api/v1/events (api.md 2.1), beside the name. */
export interface EventFields {
  readonly value?: number | string;
  readonly properties?: { readonly [key: string]: JsonValue };
  readonly visitorId?: string;
  readonly sessionId?: string;
  readonly userId?: string;
  readonly externalId?: string;
  /** Made where it is not given, so that retries are safe. */
  readonly idempotencyKey?: string;
  /** Default: now. */
  readonly timestamp?: string | number | Date;
  readonly context?: EventContext;
}

/** The fields of POST /api/identify (api.md 2.2), beside visitor and user. Everything else is a trait. */
export interface IdentityFields {
  readonly email?: string;
  readonly name?: string;
  readonly image?: string;
  readonly paymentCustomerId?: string;
  readonly [trait: string]: string | number | boolean | null | undefined;
}

/** What waits to be sent. `id` tells them apart in the queue's file. */
export interface QueuedCall {
  readonly id: string;
  readonly kind: 'event' | 'identify';
  readonly body: string;
}

export interface Undelivered {
  readonly call: QueuedCall;
  readonly reason: string;
  /** Of Weir's answer, where it was one. */
  readonly status?: number;
}

export function toEventBody(name: string, fields: EventFields, idempotencyKey: string, now: number): string {
  const { context, timestamp = now, userId, visitorId, sessionId, externalId, value, properties } = fields;
  return JSON.stringify({
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

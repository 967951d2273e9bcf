import type { EventFields, IdentityFields } from './event.ts';
import type { Weir } from './weir.ts';

/**
 * Sends events and identities for one request. Adds to each event the visitor, the session, the URL, the referrer, the user agent and the
 * client IP of the request. Adds to each identity only the visitor.
 */
export interface Visit {
  /** The visitor ID in the snippet's cookie; empty in cookieless mode or without the cookie. */
  readonly visitorId: string;
  readonly sessionId: string;
  track(name: string, fields?: EventFields): boolean;
  /** Queues an identity of the visitor. Returns false also if the request has no visitor ID. */
  identify(userId: string, fields?: IdentityFields): boolean;
}

export interface VisitRequest {
  readonly cookie: string | undefined;
  readonly url: string;
  readonly referrer: string | undefined;
  readonly userAgent: string | undefined;
  /** The address of the client, not of a proxy. */
  readonly ip: string | undefined;
}

const COOKIE = /(?:^|;\s*)weir=(\d{1,64})\.(\d{1,64})\.\d+/;

export function createVisit(weir: Weir, request: VisitRequest): Visit {
  const [, visitorId = '', sessionId = ''] = COOKIE.exec(request.cookie ?? '') ?? [];
  const { url, referrer, userAgent, ip } = request;
  const known = { url, referrer, userAgent, ip };
  return {
    visitorId,
    sessionId,
    track: (name, fields = {}) =>
      weir.track(name, { visitorId, sessionId, ...fields, context: { ...defined(known), ...fields.context } }),
    identify: (userId, fields) => visitorId !== '' && weir.identify(visitorId, userId, fields),
  };
}

function defined<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== '')) as never;
}

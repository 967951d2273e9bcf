import type { EventFields, IdentityFields } from './event.ts';
import type { Weir } from './weir.ts';

/**
 * Sends events and identities for one request. Adds to each event the visitor, the session, the URL, the referrer, the user agent and the
 * client IP of the request. Adds to each identity only the visitor.
 */
export interface Visit {
  /** The visitor ID in the snippet's cookie; empty in cookieless mode or without the cookie. */
  readonly visitorId: string;
  /** The session ID in the snippet's cookie; empty in cookieless mode, without the cookie, or if the last hit was more than 30 minutes ago. */
  readonly sessionId: string;
  track(name: string, fields?: EventFields | null): boolean;
  /** Queues an identity of the visitor. Returns false also if the request has no visitor ID. */
  identify(userId: string, fields?: IdentityFields | null): boolean;
}

export interface VisitRequest {
  readonly cookie: string | undefined;
  readonly url: string;
  readonly referrer: string | undefined;
  readonly userAgent: string | undefined;
  /** The address of the client, not of a proxy. */
  readonly ip: string | undefined;
}

// Weir refuses an event whose texts are longer than its limits (schemas/server-event.schema.json, in Unicode code points). The URL, the referrer and
// the user agent come from the visitor. They are cut, so that a visitor cannot prevent an event by a long text.
const PAGE_CHARS_MAX = 4096;
const USER_AGENT_CHARS_MAX = 1024;

/** The visitor ID, the session ID and the time of the last hit in milliseconds (packages/snippet/src/visitor.ts). */
const COOKIE = /(?:^|;\s*)weir=(\d{1,64})\.(\d{1,64})\.(\d+)/;
/** The snippet begins a new session after this time without a hit. */
const SESSION_IDLE_MS = 1_800_000;

export function createVisit(weir: Weir, request: VisitRequest): Visit {
  const [, visitorId = '', session = '', lastHit] = COOKIE.exec(request.cookie ?? '') ?? [];
  // The browser keeps the cookie for almost a year. An event must not join a visit that has ended.
  const sessionId = Date.now() - Number(lastHit) > SESSION_IDLE_MS ? '' : session;
  const known = {
    url: cut(request.url, PAGE_CHARS_MAX),
    referrer: cut(request.referrer, PAGE_CHARS_MAX),
    userAgent: cut(request.userAgent, USER_AGENT_CHARS_MAX),
    ip: addressIn(request.ip),
  };
  return {
    visitorId,
    sessionId,
    track(name, given) {
      const fields = given ?? {};
      const context = { ...defined(known), ...defined(fields.context ?? {}) };
      return weir.track(name, { visitorId, sessionId, ...defined(fields), context });
    },
    identify: (userId, fields) => visitorId !== '' && weir.identify(visitorId, userId, fields),
  };
}

function defined<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

/** Returns the first `max` Unicode code points of a text; `undefined` for an empty text. */
function cut(text: string | undefined, max: number): string | undefined {
  if (text === undefined || text.length <= max) return text || undefined;
  return [...text].slice(0, max).join('');
}

const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?=\d)|$)){4}$/;
const IPV6_CHARS = /^[\da-f:.]+$/i;

/**
 * Returns an IP address without brackets, port and zone; `undefined` if the text is not an address: with Express's `trust proxy`, it can be any
 * text that the visitor wrote into `X-Forwarded-For`. `node:net` is not used, because edge runtimes do not have it.
 */
function addressIn(text = ''): string | undefined {
  const bare = text
    .replace(/^\[([^\]]*)\](?::\d+)?$/, '$1')
    .replace(/^([^:]*):\d+$/, '$1')
    .replace(/%.*$/, '');
  return IPV4.test(bare) || (IPV6_CHARS.test(bare) && URL.canParse(`http://[${bare}]`)) ? bare : undefined;
}

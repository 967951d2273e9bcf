import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { ClientIp } from '@weir/domain/net/client-ip';
import { visitorNetwork } from '@weir/domain/net/ip-address';
import { bearerToken, hashApiKey } from '@weir/domain/registry/api-key';
import type { Viewer } from '@weir/domain/registry/viewer';
import type { RateLimit, RateLimiter } from '@weir/ports/rate-limiter';
import type { Registry } from '@weir/ports/registry';
import { createTokenUses } from '@weir/runtime/token-uses';
import { isKnownToAny } from '../registry/known-to-any.ts';
import type { RunExclusive } from '../registry/mutex.ts';
import type { Caller } from './caller.ts';
import { isSameOrigin } from './same-origin.ts';
import { readSessionCookie } from './session-cookie.ts';
import { ADMIN_CREDENTIAL, readSessionText, type Session, sessionText } from './session-text.ts';

/** A session ends after this time, even if it is in use. */
export const SESSION_SECONDS = 30 * 86_400;
export const ATTEMPTS_PER_NETWORK = 60;
const ATTEMPTS_OVERALL = 600;
/**
 * The maximum number of ended sessions that the registry stores one by one. After that, an entry for a credential ends all earlier sessions of it.
 */
export const SIGNED_OUT_MAX = 10_000;
const SESSION_ID_BYTES = 16;
const SECRET_BYTES = 32;

/** The answer to a request without a valid credential, or from a page of another origin. */
export interface Refusal {
  readonly status: 401 | 403;
  readonly message: string;
}

/** Authenticates callers by tokens or by sessions of browsers (docs/decisions/0032-sessions-are-signed-texts.md). */
export interface SignIn {
  /** If the request has a token in the header `Authorization`, this token decides, and not the session of a cookie. */
  callerOf(request: IncomingMessage): Caller | Refusal;
  /** Returns the caller to whom a token belongs. Undefined if the token is not valid. */
  callerOfToken(token: string): Caller | undefined;
  /** Counts an attempt to sign in, by the network of the client and overall. */
  attempt(request: IncomingMessage): Promise<RateLimit>;
  /** Begins a session for the caller. Resolves with the text of its cookie. */
  begin(viewer: Viewer | undefined): Promise<{ readonly text: string; readonly session: Session }>;
  /**
   * Ends one session. If the registry has `SIGNED_OUT_MAX` ended sessions, also ends all earlier sessions of its credential. Other processes refuse
   * them within a second.
   */
  end(session: Session): Promise<void>;
  /** Ends all sessions of the admin and of all viewers. */
  endAll(): Promise<void>;
}

interface SignInDeps {
  readonly registry: Registry;
  readonly adminToken: string;
  readonly clock: () => number;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly rateLimiter: RateLimiter;
  readonly findClientIp: (request: IncomingMessage) => ClientIp;
  readonly runExclusive: RunExclusive;
}

/**
 * Only a header with this scheme has a token for Weir. If a proxy before Weir asks for a password (HTTP Basic), browsers send this password with
 * every request, and many proxies forward it. It must not replace the session.
 */
const IS_BEARER = /^bearer(?:\s|$)/i;
const NO_CALLER: Refusal = { status: 401, message: 'missing or invalid admin token' };
const OTHER_ORIGIN: Refusal = { status: 403, message: 'the request comes from a page of another origin' };

export function createSignIn(deps: SignInDeps): SignIn {
  const { registry, clock, randomBytes, rateLimiter, runExclusive } = deps;
  const adminHash = hashApiKey(deps.adminToken);
  const tokenUses = createTokenUses(deps);

  const tokenHashOf = (viewer: Viewer | undefined): string => viewer?.hash ?? adminHash;
  const random = (bytes: number, encoding: 'hex' | 'base64url') => Buffer.from(randomBytes(bytes)).toString(encoding);

  function callerOfToken(token: string): Caller | undefined {
    // timingSafeEqual needs equal lengths. Hashes also hide the length of the token.
    if (timingSafeEqual(sha256(token), Buffer.from(adminHash, 'hex'))) return { viewer: undefined, session: undefined };
    const viewer = registry.viewerByHash(hashApiKey(token));
    return viewer === undefined ? undefined : { viewer, session: undefined };
  }

  function callerOfSession(text: string): Caller | undefined {
    const read = readSessionText(text);
    const secret = registry.sessionSecret()?.secret;
    if (read === undefined || secret === undefined) return undefined;
    const { session, isSigned } = read;
    const viewer = session.credential === ADMIN_CREDENTIAL ? undefined : registry.viewer(session.credential);
    if (viewer === undefined && session.credential !== ADMIN_CREDENTIAL) return undefined;
    if (!isSigned({ secret, tokenHash: tokenHashOf(viewer) })) return undefined;
    return session.expiresAt <= clock() || isSignedOut(session) ? undefined : { viewer, session };
  }

  return {
    callerOfToken,
    callerOf(request) {
      const { authorization } = request.headers;
      const cookie = IS_BEARER.test(authorization ?? '') ? undefined : readSessionCookie(request);
      const token = bearerToken(authorization);
      const caller = cookie === undefined ? token && callerOfToken(token) : callerOfSession(cookie);
      if (caller === undefined || caller === '') return NO_CALLER;
      // Browsers send the cookie with every request. So a page of another origin could cause a request that has the cookie.
      if (caller.session !== undefined && !isSameOrigin(request)) return OTHER_ORIGIN;
      if (caller.viewer !== undefined) tokenUses.note(caller.viewer.siteId, caller.viewer.viewerId);
      return caller;
    },
    async attempt(request) {
      const network = visitorNetwork(deps.findClientIp(request).address);
      const ofNetwork = await rateLimiter.take('sign_in', network === '' ? 'unknown' : network, ATTEMPTS_PER_NETWORK);
      return ofNetwork.allowed ? rateLimiter.take('sign_in', 'all networks', ATTEMPTS_OVERALL) : ofNetwork;
    },
    begin(viewer) {
      return runExclusive(async () => {
        // Another secret would end the sessions that another process has just begun.
        if (!(await isKnownToAny(registry, () => registry.sessionSecret() !== undefined))) await putSecret();
        const secret = registry.sessionSecret()?.secret ?? '';
        const credential = viewer?.viewerId ?? ADMIN_CREDENTIAL;
        const session: Session = {
          sessionId: random(SESSION_ID_BYTES, 'base64url'),
          credential,
          // If the clock was set back, this minimum makes sure that no entry for the credential ends the new session.
          expiresAt: Math.max(clock() + SESSION_SECONDS * 1000, endedUntil(credential) + 1),
        };
        return { session, text: sessionText(session, { secret, tokenHash: tokenHashOf(viewer) }) };
      });
    },
    end(session) {
      return runExclusive(async () => {
        await removeSignedOut(({ expiresAt }) => expiresAt <= clock());
        const { sessionId, credential, expiresAt } = session;
        // A caller that signs in and out in a loop must not fill the registry. If the registry has too many ended sessions, the entry has the
        // credential instead of the session. It then also ends all sessions of this credential that began earlier.
        if (registry.signedOut().size < SIGNED_OUT_MAX) await registry.putSignedOut({ sessionId, expiresAt });
        else
          await registry.putSignedOut({
            sessionId: credential,
            expiresAt: Math.max(expiresAt, endedUntil(credential)),
          });
      });
    },
    endAll() {
      return runExclusive(async () => {
        await putSecret();
        // Sessions that were signed with the old secret are invalid now, so the list of ended sessions is not needed any more.
        await removeSignedOut(() => true);
      });
    },
  };

  /** Returns a time: all sessions of the credential that expire at it or earlier were signed out. 0 if the registry has no such entry. */
  function endedUntil(credential: string): number {
    return registry.signedOut().get(credential)?.expiresAt ?? 0;
  }

  function isSignedOut({ sessionId, credential, expiresAt }: Session): boolean {
    return registry.signedOut().has(sessionId) || expiresAt <= endedUntil(credential);
  }

  async function putSecret(): Promise<void> {
    await registry.putSessionSecret({ secret: random(SECRET_BYTES, 'hex'), createdAt: clock() });
  }

  async function removeSignedOut(isOver: (session: { readonly expiresAt: number }) => boolean): Promise<void> {
    const over = [...registry.signedOut().values()].filter(isOver);
    for (const { sessionId } of over) await registry.removeSignedOut(sessionId);
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

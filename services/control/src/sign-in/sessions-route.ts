import type { AdminDeps } from '../control-deps.ts';
import { formatTime } from '../format-time.ts';
import { forbidden, invalid, ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest } from '../http/admin-route.ts';
import type { Caller } from './caller.ts';
import { isFromOtherOrigin } from './same-origin.ts';
import { REMOVED_COOKIES, sessionCookie } from './session-cookie.ts';
import { SESSION_SECONDS } from './sign-in.ts';

/** Exchanges a valid token for a new session. If the request already has a session, that session stays as it is. */
export async function beginSession(
  deps: AdminDeps,
  { body, http }: AdminRequest<{ readonly token: string }>,
): Promise<Reply> {
  const { signIn } = deps;
  if (isFromOtherOrigin(http)) return forbidden('sign in from a page of this Weir');
  const limit = await signIn.attempt(http);
  if (!limit.allowed) {
    const message = `too many attempts to sign in: try again in ${limit.resetSeconds} seconds`;
    return { status: 429, message, retryAfterSeconds: limit.resetSeconds };
  }
  if ('problem' in body) return invalid(body.problem);
  const caller = signIn.callerOfToken(body.value.token);
  if (caller === undefined) return { status: 401, message: 'the token is not valid' };
  const { text, session } = await signIn.begin(caller.viewer);
  const headers = { 'Set-Cookie': sessionCookie(http, text, SESSION_SECONDS) };
  return { status: 200, data: sessionView(deps, { ...caller, session }), headers };
}

export function readSession(deps: AdminDeps, { caller }: AdminRequest): Reply {
  return ok(sessionView(deps, caller));
}

export async function endSession({ signIn }: AdminDeps, { caller }: AdminRequest): Promise<Reply> {
  if (caller.session !== undefined) await signIn.end(caller.session);
  return { ...SIGNED_OUT, headers: { 'Set-Cookie': REMOVED_COOKIES } };
}

export async function endSessions({ signIn }: AdminDeps): Promise<Reply> {
  await signIn.endAll();
  return { ...SIGNED_OUT, headers: { 'Set-Cookie': REMOVED_COOKIES } };
}

const SIGNED_OUT = { status: 200, data: { signed_out: true } } as const;

function sessionView({ registry, publicUrl }: AdminDeps, { viewer, session }: Caller): object {
  const site = viewer && registry.site(viewer.siteId);
  return {
    role: viewer === undefined ? 'admin' : 'viewer',
    sites: viewer === undefined ? null : [viewer.siteId],
    expires_at: session === undefined ? null : formatTime(session.expiresAt),
    viewer: viewer === undefined ? null : { viewer_id: viewer.viewerId, name: viewer.name },
    site:
      site === undefined
        ? null
        : { site_id: site.siteId, name: site.name, domain: site.domain, timezone: site.timezone },
    gateway_url: publicUrl ?? null,
  };
}

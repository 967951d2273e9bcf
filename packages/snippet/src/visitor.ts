import { attempt, keep, kept } from './attempt.ts';

const SESSION_IDLE_MS = 18e5;
/** How long the cookie is kept: almost a year. */
const KEPT_SECONDS = 3e7;

/** Stores the visitor of this browser and its session, for all tabs and subdomains of a site. An empty state removes everything about the visitor. */
export const writeVisitor = (state: string): void => {
  keep('weir', state);
  attempt(() => {
    // Uses the widest domain that the browser accepts, so that subdomains share the cookie. Browsers silently refuse public suffixes.
    const labels = location.hostname.split('.');
    for (let from = labels.length; from--; ) {
      // biome-ignore lint/suspicious/noDocumentCookie: pages without TLS and older versions of Firefox have no Cookie Store API
      document.cookie = `weir=${state};path=/;samesite=lax;max-age=${state ? KEPT_SECONDS : 0};domain=${labels.slice(from).join('.')}`;
      if (state && document.cookie.includes(`weir=${state}`)) break;
    }
  });
};

/** Returns [visitor ID, session ID], and creates them if there are none. `active`: this call extends the session. */
export const visitorIds = (active?: boolean): readonly [string, string] => {
  const now = Date.now();
  // The cookie is read first, because subdomains share it. The storage is read too, because it can remain when cookies are cleared.
  // biome-ignore lint/style/useTemplate: saves 2 bytes
  const states = attempt(() => document.cookie) + ' weir=' + kept('weir');
  const [, visitor = randomId(), session, seen = 0] = /\bweir=(\d+)\.(\d+)\.(\d+)/.exec(states) || [];
  const idle = now - (seen as number) > SESSION_IDLE_MS;
  const ids = [visitor, idle ? randomId() : (session as string)] as [string, string];
  if (active || idle) writeVisitor(ids.concat(now as unknown as string).join('.'));
  return ids;
};

/** 128 random bits, as decimal digits. `randomUUID` is missing on pages without TLS. */
const randomId = (): string => crypto.getRandomValues(new Uint32Array(4)).join('');

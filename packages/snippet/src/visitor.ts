import { attempt, keep, kept } from './attempt.ts';

const SESSION_IDLE_MS = 18e5;
/** How long the cookie is kept: almost a year. */
const KEPT_SECONDS = 3e7;

/** Stores the visitor of this browser and its session, for all tabs and subdomains of a site. An empty state removes everything about the visitor. */
export const writeVisitor = (state: string): void => {
  keep('weir', state);
  attempt(() =>
    // Uses the widest domain that the browser accepts, so that subdomains share the cookie. Browsers silently refuse public suffixes.
    location.hostname.split('.').some((_, index, labels) => {
      // `slice(~index)` returns the last `index + 1` labels.
      // biome-ignore lint/suspicious/noDocumentCookie: pages without TLS and older versions of Firefox have no Cookie Store API
      document.cookie = `weir=${state};path=/;samesite=lax;max-age=${state ? KEPT_SECONDS : 0};domain=${labels.slice(~index).join('.')}`;
      return state && document.cookie.includes(`weir=${state}`);
    }),
  );
};

/** Returns [visitor ID, session ID, present time], and creates the IDs if there are none. `active`: this call extends the session. */
export const visitorIds = (active?: 1): readonly [string, string, number] => {
  const now = Date.now();
  const [, visitor = randomId(), session, seen = 0] =
    // The cookie is read first, because subdomains share it. The storage is read too, because it can remain when cookies are cleared.
    // biome-ignore lint/style/useTemplate: saves 2 bytes
    (attempt(() => document.cookie) + ' weir=' + kept('weir')).match(/\bweir=(\d+)\.(\d+)\.(\d+)/) || [];
  const idle = now - (seen as number) > SESSION_IDLE_MS;
  const state = [visitor, idle ? randomId() : (session as string), now] as const;
  if (active || idle) writeVisitor(state.join('.'));
  return state;
};

/** 128 random bits, as decimal digits. `randomUUID` is missing on pages without TLS. */
const randomId = (): string => crypto.getRandomValues(new Uint32Array(4)).join('');

import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';

const PLAIN = 'weir_session';
/** Browsers accept a cookie with this prefix only over TLS and for exactly this host, so no other host can set it. */
const OVER_TLS = `__Host-${PLAIN}`;
const ATTRIBUTES = 'Path=/; HttpOnly; SameSite=Strict';

/** Returns the value of the session cookie. Undefined if the request has no such cookie. */
export function readSessionCookie(request: IncomingMessage): string | undefined {
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim());
  for (const name of [OVER_TLS, PLAIN]) {
    const pair = pairs.find((text) => text.startsWith(`${name}=`));
    if (pair !== undefined) return pair.slice(name.length + 1);
  }
  return undefined;
}

export function sessionCookie(request: IncomingMessage, text: string, maxAgeSeconds: number): string {
  const [name, secure] = isOverTls(request) ? [OVER_TLS, '; Secure'] : [PLAIN, ''];
  return `${name}=${text}; Max-Age=${maxAgeSeconds}; ${ATTRIBUTES}${secure}`;
}

export const REMOVED_COOKIES: readonly string[] = [
  `${PLAIN}=; Max-Age=0; ${ATTRIBUTES}`,
  `${OVER_TLS}=; Max-Age=0; ${ATTRIBUTES}; Secure`,
];

/** Whether the browser uses TLS, even if a proxy terminates it. The header `Origin` contains the protocol that the browser uses. */
function isOverTls({ headers, socket }: IncomingMessage): boolean {
  const [protocol] = String(headers['x-forwarded-proto'] ?? '').split(',');
  return (
    (socket as Partial<TLSSocket>).encrypted === true ||
    protocol?.trim() === 'https' ||
    headers.origin?.startsWith('https://') === true
  );
}

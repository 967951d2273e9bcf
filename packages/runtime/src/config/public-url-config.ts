import { hideCredentials } from '@weir/domain/net/hide-credentials';
import type { EnvReader } from './env-reader.ts';

/** A URL that has only a scheme, a host and perhaps a port, as `URL` writes it. */
const ONLY_HOST = /^https?:\/\/[a-z0-9_.:[\]-]+\/$/;

/** The address under which browsers and servers reach the gateway, without a trailing slash. Undefined if it is not set. */
export function readPublicUrl(env: EnvReader): string | undefined {
  const text = env.text('WEIR_PUBLIC_URL');
  if (text === undefined) return undefined;
  const href = URL.canParse(text) ? new URL(text).href : '';
  // A path is refused, because nginx replaces the path of a request by the path of `proxy_pass` (install-texts.ts).
  if (ONLY_HOST.test(href)) return href.slice(0, -1);
  env.problem(
    `WEIR_PUBLIC_URL must be http:// or https:// with a host and, if needed, a port, such as https://events.example.com, without a user, path, query or fragment, not "${hideCredentials(text)}"`,
  );
  return undefined;
}

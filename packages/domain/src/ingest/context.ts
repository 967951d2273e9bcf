import type { JsonObject } from '../json/json.ts';
import { sent } from './aliases.ts';

/** The page on which a hit or an event happened. An absent text is empty. */
export interface PageContext {
  /** The URL as sent, including its fragment. */
  readonly url: string;
  readonly pathname: string;
  readonly hostname: string;
  readonly referrer: string;
}

export interface ServerContext extends PageContext {
  readonly ip: string;
  readonly userAgent: string;
  readonly deviceType: string;
  readonly platform: string;
}

/**
 * The context of a server event, under the field names of the API. A field in `context` takes precedence over the same field at
 * the top level of the body (docs/api.md, POST /api/v1/events).
 */
export function pickContext(body: JsonObject) {
  const sentContext = body.context ?? NOTHING;
  if (typeof sentContext !== 'object' || Array.isArray(sentContext)) return sentContext;
  const context = sentContext as JsonObject;
  return {
    url: sent(context.url, body.url),
    pathname: sent(context.pathname, body.pathname),
    hostname: sent(context.hostname, body.hostname),
    referrer: sent(context.referrer, body.referrer),
    ip: sent(context.ip),
    user_agent: sent(context.user_agent, context.userAgent),
    device_type: sent(context.device_type, context.deviceType),
    platform: sent(context.platform),
  };
}

const NOTHING: JsonObject = {};

/** Fills in `hostname` and `pathname` from `url` if they are empty. */
export function pageContext(url: string, pathname: string, hostname: string, referrer: string): PageContext {
  if (url === '' || (pathname !== '' && hostname !== '')) return { url, pathname, hostname, referrer };
  const page = URL.canParse(url) ? pageOf(new URL(url)) : undefined;
  return {
    url,
    pathname: pathname || (page?.pathname ?? pathOf(url)),
    hostname: hostname || (page?.hostname ?? ''),
    referrer,
  };
}

/**
 * The host and the path of a URL, cut to the limits of the fields `hostname` and `pathname` (docs/api.md, POST /api/collect). Undefined if
 * the URL has no host and its path does not begin with a slash, as for `about:blank`, or for `localhost:3000/a`, in which `URL` reads `localhost`
 * as the scheme. The URL of an app can have a host and an empty path: `myapp://home`.
 */
export function pageOf({
  hostname,
  pathname,
}: URL): { readonly hostname: string; readonly pathname: string } | undefined {
  if (!pathname.startsWith('/') && hostname === '') return undefined;
  return { hostname: cutChars(hostname, HOSTNAME_CHARS_MAX), pathname: cutChars(pathname, PATHNAME_CHARS_MAX) };
}

const HOSTNAME_CHARS_MAX = 255;
const PATHNAME_CHARS_MAX = 4096;

/** Returns the path of a URL without a host (`/docs?page=2`); empty for any other text. */
function pathOf(url: string): string {
  return url.startsWith('/') && !url.startsWith('//') ? url.replace(/[?#].*$/s, '') : '';
}

/** Returns the first `max` Unicode code points of a text. */
export function cutChars(text: string, max: number): string {
  if (text.length <= max) return text;
  let units = 0;
  for (let chars = 0; chars < max && units < text.length; chars += 1) {
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, units);
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

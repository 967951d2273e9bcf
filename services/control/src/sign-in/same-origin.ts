import type { IncomingMessage } from 'node:http';

const READS = ['GET', 'HEAD'];

/**
 * Whether a page of this Weir sent the request, or a person typed its address. The decision uses headers that browsers set themselves and that
 * pages cannot change. A GET or HEAD without these headers counts as the same origin, although a page of another origin can cause it over HTTP.
 * A request that has none of these headers and changes something does not come from a browser that Weir supports.
 */
export function isSameOrigin(request: IncomingMessage): boolean {
  const { headers, method = '' } = request;
  const isRead = READS.includes(method);
  const fetchSite = headers['sec-fetch-site'];
  if (fetchSite !== undefined) return fetchSite === 'same-origin' || (fetchSite === 'none' && isRead);
  // Browsers send Sec-Fetch-Site only to origins with TLS and to this machine.
  if (headers.origin === undefined) return isRead;
  return [headers.host, headers['x-forwarded-host']].includes(hostOf(headers.origin));
}

/** Whether another origin has caused the request. False for a program that sends no header of a browser. */
export function isFromOtherOrigin(request: IncomingMessage): boolean {
  const { origin, 'sec-fetch-site': fetchSite } = request.headers;
  return (origin !== undefined || fetchSite !== undefined) && !isSameOrigin(request);
}

function hostOf(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).host : origin;
}

import type { IncomingMessage } from 'node:http';

const READS = ['GET', 'HEAD'];

/**
 * Whether a page of this Weir sent the request, or a person typed its address. The decision uses headers that browsers set themselves and that
 * pages cannot change. A GET or HEAD without these headers counts as the same origin, although a page of another origin can cause such a
 * request over HTTP. Any other request without these headers counts as another origin, because every browser that Weir supports sends at least
 * one of these headers with it.
 */
export function isSameOrigin(request: IncomingMessage): boolean {
  const { headers, method = '' } = request;
  const isRead = READS.includes(method);
  const fetchSite = headers['sec-fetch-site'];
  if (fetchSite !== undefined) return fetchSite === 'same-origin' || (fetchSite === 'none' && isRead);
  // Browsers send Sec-Fetch-Site only to HTTPS origins and to localhost. For all other origins, the decision uses the header Origin.
  if (headers.origin === undefined) return isRead;
  return [headers.host, headers['x-forwarded-host']].includes(hostOf(headers.origin));
}

/** Whether another origin has caused the request. False for a client, such as curl, that sends neither `Origin` nor `Sec-Fetch-Site`. */
export function isFromOtherOrigin(request: IncomingMessage): boolean {
  const { origin, 'sec-fetch-site': fetchSite } = request.headers;
  return (origin !== undefined || fetchSite !== undefined) && !isSameOrigin(request);
}

function hostOf(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).host : origin;
}

import type { IncomingHttpHeaders } from 'node:http';
import type { AdminDeps } from '../control-deps.ts';
import { ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest } from '../http/admin-route.ts';
import { ADDRESS_HEADERS, addressAdvice } from '../pipeline/address-advice.ts';

const HEADER_CHARS_MAX = 512;

/**
 * Returns the client IP of this request, the header that contained the IP, and the location. Also returns the settings for proxies, advice about
 * these settings, and the sites that get most of their hits from one network.
 */
export async function whoami(deps: AdminDeps, { http }: AdminRequest): Promise<Reply> {
  const { findClientIp, locate, singleNetworkSites, proxies } = deps;
  const client = findClientIp(http);
  const sent = sentAddresses(http.headers);
  const { place, data, problem } = await locate(client.address);
  return ok({
    address: client.address,
    header: client.header === '' ? null : client.header,
    connection: client.peer,
    connection_trusted: client.peerTrusted,
    country: place?.country ?? null,
    region: place?.region ?? null,
    city: place?.city ?? null,
    timezone: place?.timezone ?? null,
    geo: { data, problem: problem === '' ? null : problem },
    sent,
    trusted_proxies: proxies.trustedProxies,
    client_ip_header: proxies.clientIpHeader ?? null,
    advice: addressAdvice(client, sent, proxies.clientIpHeader),
    crowded_sites:
      singleNetworkSites === undefined
        ? null
        : (await singleNetworkSites()).map(({ siteId, hits, percent, isPrivate }) => ({
            site_id: siteId,
            hits,
            percent,
            private: isPrivate,
          })),
  });
}

/** Returns the headers of this request that name a client address, whether they are trusted or not. */
function sentAddresses(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const sent: Record<string, string> = {};
  for (const name of ADDRESS_HEADERS) {
    const value = headers[name];
    if (value !== undefined) sent[name] = String(value).slice(0, HEADER_CHARS_MAX);
  }
  return sent;
}

import type { IncomingHttpHeaders } from 'node:http';
import type { Router } from 'express';
import { ADDRESS_HEADERS, addressAdvice } from '../address-advice.ts';
import type { ControlDeps } from '../control-deps.ts';
import { defineRoute } from '../define-route.ts';
import { ok } from '../reply.ts';

const HEADER_CHARS_MAX = 512;

/** Whom Weir takes the asker for, by which header, and where; and the sites whose hits look as if a proxy were not trusted. */
export function whoamiRoutes(router: Router, deps: ControlDeps): void {
  const { findClient, locate, crowdedSites, proxies } = deps;
  defineRoute(router, '/whoami', {
    get: async (request) => {
      const client = findClient(request);
      const sent = sentAddresses(request.headers);
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
          crowdedSites === undefined
            ? null
            : crowdedSites().map(({ siteId, hits, percent, isPrivate }) => ({
                site_id: siteId,
                hits,
                percent,
                private: isPrivate,
              })),
      });
    },
  });
}

/** What this request says of its client, believed or not. */
function sentAddresses(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  const sent: Record<string, string> = {};
  for (const name of ADDRESS_HEADERS) {
    const value = headers[name];
    if (value !== undefined) sent[name] = String(value).slice(0, HEADER_CHARS_MAX);
  }
  return sent;
}

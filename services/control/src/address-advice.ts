import type { FoundClient } from '@weir/domain/found-client';
import { isPrivateAddress } from '@weir/domain/private-address';

/** Headers in which proxies and CDNs name the client, in lower case. */
export const ADDRESS_HEADERS = [
  'x-forwarded-for',
  'forwarded',
  'cf-connecting-ip',
  'true-client-ip',
  'x-real-ip',
  'x-client-ip',
  'fly-client-ip',
  'fastly-client-ip',
  'cloudfront-viewer-address',
  'x-azure-clientip',
] as const;

const LISTS: readonly string[] = ['x-forwarded-for', 'forwarded'];

/** What may be wrong with the settings about proxies, judged by one request. Empty: nothing is seen. */
export function addressAdvice(
  client: FoundClient,
  sent: Readonly<Record<string, string>>,
  clientIpHeader: string | undefined,
): readonly string[] {
  const names = Object.keys(sent);
  if (!client.peerTrusted) {
    if (names.length === 0) return [];
    return [
      `The connection came from ${client.peer}, which is not in TRUSTED_PROXIES, so ${names.join(', ')} counted for nothing. ` +
        'If that is your proxy, add it; if not, someone makes an address up, and all is well.',
    ];
  }
  const advice: string[] = [];
  if (client.header === '') {
    advice.push(
      `The trusted proxy ${client.peer} sent no address that can be read, so all who come through it count as one.`,
    );
  } else if (isPrivateAddress(client.address)) {
    advice.push(
      `${client.address} is a private address: likely one more proxy of yours, which TRUSTED_PROXIES does not reach yet.`,
    );
  }
  const others = names.filter(
    (name) => !LISTS.includes(name) && name !== clientIpHeader && sent[name] !== client.address,
  );
  if (others.length > 0) {
    advice.push(
      `${others.join(', ')} says something else, and is not read. If your CDN writes it, set CLIENT_IP_HEADER to it.`,
    );
  }
  return advice;
}

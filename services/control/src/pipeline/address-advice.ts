import type { ClientIp } from '@weir/domain/net/client-ip';
import { isPrivateAddress } from '@weir/domain/net/private-address';

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

/** Advice about the proxy settings, based on the headers of one request. Empty if the settings look right. */
export function addressAdvice(
  client: ClientIp,
  sent: Readonly<Record<string, string>>,
  clientIpHeader: string | undefined,
): readonly string[] {
  const names = Object.keys(sent);
  if (!client.peerTrusted) {
    if (names.length === 0) return [];
    return [
      `The connection came from ${client.peer}, which is not in TRUSTED_PROXIES, so ${names.join(', ')} was ignored. ` +
        'If this is your proxy, add it to TRUSTED_PROXIES. If not, the client made up the header, and the settings are right.',
    ];
  }
  const advice: string[] = [];
  if (client.header === '') {
    advice.push(
      `The trusted proxy ${client.peer} sent no valid client address, so all its visitors count as one. Configure the proxy to send X-Forwarded-For.`,
    );
  } else if (isPrivateAddress(client.address)) {
    advice.push(
      `${client.address} is a private address. It is probably another proxy of yours: add it to TRUSTED_PROXIES.`,
    );
  }
  const others = names.filter(
    (name) => !LISTS.includes(name) && name !== clientIpHeader && sent[name] !== client.address,
  );
  if (others.length > 0) {
    advice.push(
      `${others.join(', ')} differs from the client IP and is not read. If your CDN sends it, set CLIENT_IP_HEADER to it.`,
    );
  }
  return advice;
}

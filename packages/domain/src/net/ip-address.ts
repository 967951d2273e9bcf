import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { undotted } from './network.ts';

/**
 * Returns an address in one spelling: IPv6 in lower case, compressed and without its zone; an IPv4-mapped address as IPv4. Empty if
 * the text is not an address.
 */
export function normalizeIp(text: string): string {
  if (isIPv4(text)) return text;
  if (!text.includes(':')) return '';
  const bare = undotted(text.replace(/%.*$/, ''));
  if (!ipaddr.IPv6.isValid(bare)) return '';
  const address = ipaddr.IPv6.parse(bare);
  return address.isIPv4MappedAddress() ? address.toIPv4Address().toString() : address.toString();
}

/**
 * The network that counts as the address of one visitor: an IPv4 address itself, or the /64 of an IPv6 address
 * (docs/api.md, POST /api/collect). Takes a normalised address.
 */
export function visitorNetwork(ip: string): string {
  if (!ip.includes(':')) return ip;
  const parts = ipaddr.IPv6.parse(ip).parts.slice(0, 4);
  return `${parts.map((part) => part.toString(16)).join(':')}::/64`;
}

import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { undotted } from './network.ts';

/** An address in one spelling: IPv6 lower-case and compressed without its zone, IPv4-mapped unwrapped. Empty where it is none. */
export function normalizeIp(text: string): string {
  if (isIPv4(text)) return text;
  if (!text.includes(':')) return '';
  const bare = undotted(text.replace(/%.*$/, ''));
  if (!ipaddr.IPv6.isValid(bare)) return '';
  const address = ipaddr.IPv6.parse(bare);
  return address.isIPv4MappedAddress() ? address.toIPv4Address().toString() : address.toString();
}

/** What counts as one visitor's address: IPv4 as it is, IPv6 its /64 (decisions.md, collect). Takes a normalised address. */
export function visitorNetwork(ip: string): string {
  if (!ip.includes(':')) return ip;
  const parts = ipaddr.IPv6.parse(ip).parts.slice(0, 4);
  return `${parts.map((part) => part.toString(16)).join(':')}::/64`;
}

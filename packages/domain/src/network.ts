import ipaddr from 'ipaddr.js';

/** An address as a number: IPv4's is a `number`, IPv6's a `bigint`. */
export type AddressNumber = number | bigint;

/** A run of addresses. IPv4-mapped IPv6 is IPv4. */
export interface Network {
  readonly family: 4 | 6;
  readonly prefix: number;
  readonly first: AddressNumber;
  readonly last: AddressNumber;
}

const MAPPED_BITS = 96;

/** An address or CIDR; undefined where it is neither. Bits beyond the prefix count for nothing. */
export function parseNetwork(text: string): Network | undefined {
  const [address = '', length, ...rest] = text.trim().split('/');
  if (rest.length > 0 || (length !== undefined && !/^\d{1,3}$/.test(length))) return undefined;
  const number = addressNumber(address);
  if (number === undefined) return undefined;
  if (typeof number === 'bigint') {
    const prefix = length === undefined ? 128 : Number(length);
    if (prefix > 128) return undefined;
    const host = BigInt(128 - prefix);
    const first = (number >> host) << host;
    return { family: 6, prefix, first, last: first + (1n << host) - 1n };
  }
  const mapped = address.includes(':');
  const prefix = length === undefined ? 32 : Number(length) - (mapped ? MAPPED_BITS : 0);
  if (prefix < 0 || prefix > 32) return undefined;
  const size = 2 ** (32 - prefix);
  const first = Math.floor(number / size) * size;
  return { family: 4, prefix, first, last: first + size - 1 };
}

/** Undefined where the text is no address. Of IPv4 only four decimal parts. */
export function addressNumber(text: string): AddressNumber | undefined {
  if (!text.includes(':')) return ipv4Number(text);
  const bare = text.includes('%') ? text.slice(0, text.indexOf('%')) : text;
  if (!ipaddr.IPv6.isValid(bare)) return undefined;
  const address = ipaddr.IPv6.parse(bare);
  if (address.isIPv4MappedAddress()) return ipv4Number(address.toIPv4Address().toString());
  let hex = '0x';
  for (const part of address.parts) hex += part.toString(16).padStart(4, '0');
  return BigInt(hex);
}

/** By hand: this is asked once for each record of a site that has rules of addresses. */
function ipv4Number(text: string): number | undefined {
  let number = 0;
  let part = 0;
  let digits = 0;
  let dots = 0;
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code === 46) {
      if (digits === 0) return undefined;
      number = number * 256 + part;
      part = 0;
      digits = 0;
      dots += 1;
    } else if (code >= 48 && code <= 57 && !(digits > 0 && part === 0)) {
      part = part * 10 + (code - 48);
      digits += 1;
      if (part > 255) return undefined;
    } else return undefined;
  }
  return dots === 3 && digits > 0 ? number * 256 + part : undefined;
}

import ipaddr from 'ipaddr.js';

/** An address as a number: a `number` for IPv4, a `bigint` for IPv6. */
export type AddressNumber = number | bigint;

/** A range of addresses. IPv4-mapped IPv6 addresses count as IPv4. */
export interface Network {
  readonly family: 4 | 6;
  readonly prefix: number;
  readonly first: AddressNumber;
  readonly last: AddressNumber;
}

const MAPPED_BITS = 96;

/** Reads an address or CIDR; `undefined` if the text is neither. Bits after the prefix are ignored. */
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

/** Returns the normalised text of a network: its first address and the prefix length. A network of one address has no prefix length. */
export function networkText({ family, prefix, first }: Network): string {
  const address = family === 4 ? ipaddr.IPv4.parse(String(first)).toString() : ipv6Text(BigInt(first));
  return prefix === (family === 4 ? 32 : 128) ? address : `${address}/${prefix}`;
}

function ipv6Text(address: bigint): string {
  const digits = address.toString(16).padStart(32, '0');
  return ipaddr.IPv6.parse(digits.replace(/.{4}(?!$)/g, '$&:')).toString();
}

/** Returns `undefined` if the text is not an address. An IPv4 address must have four decimal parts. */
export function addressNumber(text: string): AddressNumber | undefined {
  if (!text.includes(':')) return ipv4Number(text);
  const bare = text.includes('%') ? text.slice(0, text.indexOf('%')) : text;
  const parts = ipv6Parts(undotted(bare));
  if (parts === undefined) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = [0, 2, 4, 6].map((i) => (parts[i] ?? 0) * 65_536 + (parts[i + 1] ?? 0));
  if (a === 0 && b === 0 && c === 0xffff) return d;
  return (((((BigInt(a) << 32n) | BigInt(b)) << 32n) | BigInt(c)) << 32n) | BigInt(d);
}

/** If the last part of an IPv6 address is an IPv4 address (`64:ff9b::192.0.2.1`), writes it in hex. Empty if that part is invalid. */
export function undotted(text: string): string {
  if (!text.includes('.')) return text;
  const cut = text.lastIndexOf(':') + 1;
  const tail = ipv4Number(text.slice(cut));
  if (tail === undefined) return '';
  return `${text.slice(0, cut)}${Math.floor(tail / 65_536).toString(16)}:${(tail % 65_536).toString(16)}`;
}

/**
 * Returns the eight parts of an IPv6 address, or undefined if the text is not one. This function runs for each record of a site that
 * excludes addresses, so it does not use a library, which would take ten times as long.
 */
function ipv6Parts(text: string): readonly number[] | undefined {
  const parts: number[] = [];
  let gap = -1;
  let at = 0;
  if (text.startsWith('::')) {
    gap = 0;
    at = 2;
  }
  while (at < text.length) {
    let part = 0;
    let digits = 0;
    for (let digit = hexDigit(text, at); digit >= 0; digit = hexDigit(text, ++at)) {
      part = part * 16 + digit;
      digits += 1;
    }
    if (digits === 0 || digits > 4 || parts.push(part) > 8) return undefined;
    if (at === text.length) break;
    if (text[at] !== ':' || at + 1 === text.length) return undefined;
    at += 1;
    if (text[at] !== ':') continue;
    if (gap >= 0) return undefined;
    gap = parts.length;
    at += 1;
  }
  if (gap < 0) return parts.length === 8 ? parts : undefined;
  if (parts.length > 7) return undefined;
  return [...parts.slice(0, gap), ...Array<number>(8 - parts.length).fill(0), ...parts.slice(gap)];
}

function hexDigit(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code >= 48 && code <= 57) return code - 48;
  if (code >= 97 && code <= 102) return code - 87;
  return code >= 65 && code <= 70 ? code - 55 : -1;
}

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

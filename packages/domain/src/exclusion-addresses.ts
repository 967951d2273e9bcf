import ipaddr from 'ipaddr.js';
import type { ExclusionRule } from './site.ts';

type Family = 4 | 6;
interface Network {
  readonly family: Family;
  readonly prefix: number;
  readonly address: bigint;
}

const BITS: Readonly<Record<Family, number>> = { 4: 32, 6: 128 };

/** An address or CIDR of a rule; undefined where it is neither. IPv4-mapped IPv6 counts as IPv4. */
export function parseNetwork(text: string): Network | undefined {
  const [address = '', length, ...rest] = text.trim().split('/');
  if (rest.length > 0 || (length !== undefined && !/^\d{1,3}$/.test(length))) return undefined;
  const parsed = parseAddress(address);
  if (parsed === undefined) return undefined;
  const mapped = parsed.family === 4 && address.includes(':');
  const prefix = length === undefined ? BITS[parsed.family] : Number(length) - (mapped ? 96 : 0);
  if (prefix < 0 || prefix > BITS[parsed.family]) return undefined;
  return { family: parsed.family, prefix, address: masked(parsed.address, parsed.family, prefix) };
}

/**
 * The first of many address rules that holds an address: one look-up per family and prefix length that is in use, however many
 * rules there are.
 */
export function compileAddressRules(rules: readonly ExclusionRule[]): (ip: string) => ExclusionRule | undefined {
  const byLength = new Map<string, { family: Family; prefix: number; rules: Map<bigint, ExclusionRule> }>();
  for (const rule of rules) {
    const network = parseNetwork(rule.value);
    if (network === undefined) continue;
    const key = `${network.family}/${network.prefix}`;
    const group = byLength.get(key) ?? { family: network.family, prefix: network.prefix, rules: new Map() };
    if (!group.rules.has(network.address)) group.rules.set(network.address, rule);
    byLength.set(key, group);
  }
  const groups = [...byLength.values()];
  return (ip) => {
    const parsed = groups.length === 0 ? undefined : parseAddress(ip);
    if (parsed === undefined) return undefined;
    for (const group of groups) {
      if (group.family !== parsed.family) continue;
      const rule = group.rules.get(masked(parsed.address, group.family, group.prefix));
      if (rule !== undefined) return rule;
    }
    return undefined;
  };
}

function masked(address: bigint, family: Family, prefix: number): bigint {
  const host = BigInt(BITS[family] - prefix);
  return (address >> host) << host;
}

function parseAddress(text: string): { readonly family: Family; readonly address: bigint } | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return { family: 4, address: toBigInt(ipaddr.IPv4.parse(text)) };
  const bare = text.replace(/%.*$/, '');
  if (!bare.includes(':') || !ipaddr.IPv6.isValid(bare)) return undefined;
  const address = ipaddr.IPv6.parse(bare);
  if (address.isIPv4MappedAddress()) return { family: 4, address: toBigInt(address.toIPv4Address()) };
  return { family: 6, address: toBigInt(address) };
}

function toBigInt(address: ipaddr.IPv4 | ipaddr.IPv6): bigint {
  let value = 0n;
  for (const byte of address.toByteArray()) value = (value << 8n) | BigInt(byte);
  return value;
}

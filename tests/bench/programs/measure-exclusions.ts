import { compileExclusions, type ExclusionSubject } from '@weir/domain/exclusion/exclusion';
import type { ExclusionRule, ExclusionType } from '@weir/domain/registry/site';
import { cpuMicrosOf } from './bench-engines.ts';

export interface ExclusionsTask {
  readonly rounds: number;
  readonly rules: number;
}

export interface ExclusionFigures {
  /** CPU microseconds per hit, by kind of lookup, with one number for each round. */
  readonly asked: Readonly<Record<string, readonly number[]>>;
  /** CPU milliseconds to compile all exclusion rules of a site, with one number for each round. */
  readonly compiled: readonly number[];
}

const HITS = 200_000;
const AGENT = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/126.0.0.0 Safari/537.36';

const made = (type: ExclusionType, count: number, value: (i: number) => string): ExclusionRule[] =>
  Array.from({ length: count }, (_, i) => ({
    ruleId: `${type}-${i}`,
    siteId: 's',
    type,
    value: value(i),
    createdAt: 0,
  }));
const ipv4 = (i: number) => `${1 + (i % 200)}.${(i >> 3) & 255}.${(i * 7) & 255}.0/${20 + (i % 13)}`;
const ipv6 = (i: number) => `2001:db8:${(i & 0xffff).toString(16)}::/${48 + (i % 17)}`;

async function main({ rounds, rules }: ExclusionsTask): Promise<ExclusionFigures> {
  const half = rules / 2;
  const sets: Readonly<Record<string, { readonly rules: readonly ExclusionRule[]; ip(i: number): string }>> = {
    'one rule, IPv4 hits': { rules: made('ip', 1, ipv4), ip: someIpv4 },
    '10,000 CIDRs, IPv4 hits': { rules: [...made('ip', half, ipv4), ...made('ip', half, ipv6)], ip: someIpv4 },
    '10,000 CIDRs, IPv6 hits': { rules: [...made('ip', half, ipv4), ...made('ip', half, ipv6)], ip: someIpv6 },
    '9,000 paths and 1,000 user agents': {
      rules: [...made('path', rules - 1000, (i) => `/p/${i}/*`), ...made('user_agent', 1000, (i) => `agent-${i}`)],
      ip: someIpv4,
    },
  };
  const asked: Record<string, number[]> = Object.fromEntries(Object.keys(sets).map((name) => [name, []]));
  const compiled: number[] = [];
  for (let round = -1; round < rounds; round++) {
    for (const [name, set] of Object.entries(sets)) {
      const matches = compileExclusions(set.rules);
      const hits = Array.from({ length: HITS }, (_, i) => subject(set.ip(i), i));
      let dropped = 0;
      const micros = await cpuMicrosOf(() => {
        for (const hit of hits) if (matches?.(hit) !== undefined) dropped += 1;
      });
      if (dropped === HITS) throw new Error('every hit was dropped, so the measurement is invalid');
      if (round >= 0) asked[name]?.push(micros / HITS);
    }
    const all = sets['10,000 CIDRs, IPv4 hits']?.rules ?? [];
    const micros = await cpuMicrosOf(() => compileExclusions(all));
    if (round >= 0) compiled.push(micros / 1000);
  }
  return { asked, compiled };
}

function someIpv4(i: number): string {
  return `${1 + (i % 223)}.${(i >> 4) & 255}.${(i * 31) & 255}.${i & 255}`;
}
function someIpv6(i: number): string {
  return `2001:db8:${((i * 7) & 0xffff).toString(16)}:${(i & 0xfff).toString(16)}::1`;
}

function subject(ip: string, i: number): ExclusionSubject {
  const pathname = `/shop/${i % 500}`;
  return { ip, pathname, hostname: 'example.com', country: 'DE', userAgent: AGENT, visitorId: `v${i}`, bot: '' };
}

console.log(JSON.stringify(await main(JSON.parse(process.argv[2] ?? '{}') as ExclusionsTask)));

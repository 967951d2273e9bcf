import { type Network, parseNetwork } from './network.ts';
import { compileNetworks, type NetworkTable } from './network-table.ts';
import type { ExclusionRule } from './site.ts';

/** A site's rules are compiled anew with every change of one of them, and each rule lasts. */
const read = new WeakMap<ExclusionRule, Network>();

/** The most specific of many address rules that holds an address. */
export function compileAddressRules(rules: readonly ExclusionRule[]): NetworkTable<ExclusionRule> {
  const entries: (readonly [Network, ExclusionRule])[] = [];
  for (const rule of rules) {
    const network = read.get(rule) ?? parseNetwork(rule.value);
    if (network === undefined) continue;
    read.set(rule, network);
    entries.push([network, rule]);
  }
  return compileNetworks(entries);
}

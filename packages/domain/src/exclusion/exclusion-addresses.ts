import { type Network, parseNetwork } from '../net/network.ts';
import { compileNetworks, type NetworkTable } from '../net/network-table.ts';
import type { ExclusionRule } from '../registry/site.ts';

/** The parsed network of each rule. It is kept because a change of one rule makes Weir compile all rules of the site again. */
const read = new WeakMap<ExclusionRule, Network>();

/** Compiles address rules to a table, which finds the most specific rule whose network contains an address. */
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

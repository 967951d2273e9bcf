import { domainToASCII } from 'node:url';
import { networkText, parseNetwork } from '../net/network.ts';
import type { ExclusionType } from '../registry/site.ts';

/** A path without percent escapes: `/%C3%A4` in a URL and `/ä` in a rule are the same path. */
export function spellPath(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURI(path);
  } catch (error) {
    // The escapes are invalid or are not UTF-8, so the text is compared unchanged.
    if (error instanceof URIError) return path;
    throw error;
  }
}

/** A host name, or a glob of one, in lower case and in ASCII, as URLs have it; without the dot that says the same host to DNS. */
export function spellHostname(hostname: string): string {
  const host = hostname.trim().toLowerCase().replace(/\.$/, '');
  return NON_ASCII.test(host) ? domainToASCII(host) || host : host;
}

/** Host names and paths with `*`: two in a row say the same as one. */
const spellGlob = (glob: string): string => glob.replace(/\*+/g, '*');

/** The value that a rule is stored with: networks, countries and bots have one spelling, other values stay as they were sent. */
export function spellRuleValue(type: ExclusionType, value: string): string {
  if (type === 'ip') {
    const network = parseNetwork(value);
    return network === undefined ? value : networkText(network);
  }
  if (type === 'country') return value.trim().toUpperCase();
  return type === 'bots' ? '' : value;
}

/** Equal for two rules of one type that match the same hits, however they are spelled. */
export function ruleIdentity(type: ExclusionType, value: string): string {
  switch (type) {
    case 'path':
      return spellGlob(spellPath(value));
    case 'hostname':
      return spellGlob(spellHostname(value));
    case 'user_agent':
      return value.trim().toLowerCase();
    default:
      return spellRuleValue(type, value);
  }
}

const NON_ASCII = /[^\0-\x7f]/;

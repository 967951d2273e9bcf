import { domainToASCII } from 'node:url';
import { networkText, parseNetwork } from '../net/network.ts';
import type { ExclusionType } from '../registry/site.ts';

/** Decodes the percent escapes of a path: `/%C3%A4` in a URL and `/ä` in a rule are the same path. */
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

/** Writes a host name, or a glob of host names, as in URLs: in lower case, in ASCII, and without a dot at the end. */
export function spellHostname(hostname: string): string {
  const host = hostname.trim().toLowerCase().replace(/\.$/, '');
  return NON_ASCII.test(host) ? domainToASCII(host) || host : host;
}

/** Replaces several `*` in a row by one, which matches the same texts. */
const spellGlob = (glob: string): string => glob.replace(/\*+/g, '*');

/** The value with which a rule is stored: networks, countries and bots have one spelling, other values stay as they were sent. */
export function spellRuleValue(type: ExclusionType, value: string): string {
  if (type === 'ip') {
    const network = parseNetwork(value);
    return network === undefined ? value : networkText(network);
  }
  if (type === 'country') return value.trim().toUpperCase();
  return type === 'bots' ? '' : value;
}

/** Returns the same text for two rules of one type if they match the same hits, also if their values are spelled differently. */
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

import { domainToASCII } from 'node:url';

/** A path as a person writes it: what a URL spells `/%C3%A4` and a rule or a page `/ä` is the same path. */
export function spellPath(path: string): string {
  if (!path.includes('%')) return path;
  try {
    return decodeURI(path);
  } catch (error) {
    // Not UTF-8, or no escapes at all: compared as it stands.
    if (error instanceof URIError) return path;
    throw error;
  }
}

/** A host name, or a glob of one, in lower case and in ASCII, as URLs have it; without the dot that says the same host to DNS. */
export function spellHostname(hostname: string): string {
  const host = hostname.trim().toLowerCase().replace(/\.$/, '');
  return NON_ASCII.test(host) ? domainToASCII(host) || host : host;
}

const NON_ASCII = /[^\0-\x7f]/;

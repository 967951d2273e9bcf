import { domainToASCII } from 'node:url';
import { BoundedCache } from '@weir/domain/bounded-cache';
import { getDomain, parse } from 'tldts';

const HOSTS_MAX = 20_000;

/**
 * The registrable domain of a host, or the host itself if it has no registrable domain. Private suffixes such as github.io count as
 * suffixes, so me.github.io and you.github.io are two domains.
 */
export function domainOf(hostname: string): string {
  return getDomain(hostname, { allowPrivateDomains: true }) ?? hostname;
}

/**
 * The public suffix of a host: `co.uk` for www.google.co.uk. Undefined if the suffix is not in ICANN's part of the Public
 * Suffix List.
 */
export function publicSuffixOf(hostname: string): string | undefined {
  const { publicSuffix, isIcann } = parse(hostname);
  return isIcann === true && publicSuffix !== null ? publicSuffix : undefined;
}

/** `domainOf` with a cache. Accepts hosts in upper or lower case and in Unicode. */
export function createHostDomains(): (hostname: string) => string {
  const cache = new BoundedCache<string>(HOSTS_MAX);
  return (hostname) => {
    if (hostname === '') return '';
    let domain = cache.get(hostname);
    if (domain === undefined) {
      domain = domainOf(domainToASCII(hostname) || hostname.toLowerCase());
      cache.set(hostname, domain);
    }
    return domain;
  };
}

import { domainToASCII } from 'node:url';
import { BoundedCache } from '@weir/domain/bounded-cache';
import { getDomain, parse } from 'tldts';

const HOSTS_MAX = 20_000;

/** The registrable domain, or the host where it has none. Private suffixes too: me.github.io and you.github.io are two sites. */
export function domainOf(hostname: string): string {
  return getDomain(hostname, { allowPrivateDomains: true }) ?? hostname;
}

/** `co.uk` of www.google.co.uk; undefined where no registry gives it out. */
export function publicSuffixOf(hostname: string): string | undefined {
  const { publicSuffix, isIcann } = parse(hostname);
  return isIcann === true && publicSuffix !== null ? publicSuffix : undefined;
}

/** `domainOf` a host as people write it: in any case, with umlauts. */
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

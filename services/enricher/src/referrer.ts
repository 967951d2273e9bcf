import type { Source, Sources } from '@weir/domain/source';
import { getDomain } from 'tldts';
import { BoundedCache } from './bounded-cache.ts';
import { jsonText } from './json-text.ts';

/** A referrer, taken apart. */
export interface Referrer {
  readonly json: string;
  /** In lower case; empty where the text is no URL with a host. */
  readonly hostname: string;
  /** The registrable domain, or the host where it has none. */
  readonly domain: string;
  readonly source: Source | undefined;
}

const REFERRERS_MAX = 20_000;
const KEY_CHARS_MAX = 1024;

export const NO_REFERRER: Referrer = { json: '""', hostname: '', domain: '', source: undefined };

export function createReferrers(sources: Sources): (referrer: string) => Referrer {
  const cache = new BoundedCache<Referrer>(REFERRERS_MAX);
  return (referrer) => {
    if (referrer === '') return NO_REFERRER;
    const known = cache.get(referrer);
    if (known !== undefined) return known;
    const made = parseReferrer(referrer, sources);
    if (referrer.length <= KEY_CHARS_MAX) cache.set(referrer, made);
    return made;
  };
}

function parseReferrer(referrer: string, sources: Sources): Referrer {
  const url = URL.canParse(referrer) ? new URL(referrer) : undefined;
  const hostname = url?.hostname.toLowerCase() ?? '';
  if (url === undefined || hostname === '') return { ...NO_REFERRER, json: jsonText(referrer) };
  return {
    json: jsonText(referrer),
    hostname,
    // Private suffixes too: me.github.io and you.github.io are two sites.
    domain: getDomain(hostname, { allowPrivateDomains: true }) ?? hostname,
    source: sources.ofReferrer(hostname, url.pathname),
  };
}

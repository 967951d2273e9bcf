import type { Sources } from '@weir/domain/source';
import { getDomain } from 'tldts';
import { BoundedCache } from './bounded-cache.ts';
import { NO_TAGS } from './hit.ts';
import { jsonText } from './json-text.ts';
import { attribute, type Origin } from './traffic.ts';
import { visitJson } from './visit-json.ts';

/** A referrer, taken apart. */
export interface Referrer extends Origin {
  readonly json: string;
  /** In lower case; empty where the text is no URL with a host. */
  readonly hostname: string;
  /** The registrable domain, or the host where it has none. */
  readonly domain: string;
  /** Columns `referrer` to `traffic_source` of a visit from there without tags or a click ID, as most are. */
  readonly untaggedJson: string;
  /** The same where it is a page of the site itself. */
  readonly internalJson: string;
}

const REFERRERS_MAX = 20_000;
const KEY_CHARS_MAX = 1024;

export function createReferrers(sources: Sources): (referrer: string) => Referrer {
  const cache = new BoundedCache<Referrer>(REFERRERS_MAX);
  const none = parseReferrer('', sources);
  return (referrer) => {
    if (referrer === '') return none;
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
  const json = jsonText(referrer);
  const internalJson = untagged(json, undefined, sources);
  if (url === undefined || hostname === '') {
    return { json, hostname: '', domain: '', source: undefined, untaggedJson: internalJson, internalJson };
  }
  // Private suffixes too: me.github.io and you.github.io are two sites.
  const domain = getDomain(hostname, { allowPrivateDomains: true }) ?? hostname;
  const source = sources.ofReferrer(hostname, url.pathname);
  return {
    json,
    hostname,
    domain,
    source,
    untaggedJson: untagged(json, { domain, source }, sources),
    internalJson,
  };
}

function untagged(referrerJson: string, referrer: Origin | undefined, sources: Sources): string {
  const attribution = attribute({ tags: NO_TAGS, clickId: undefined, referrer }, sources);
  return visitJson({
    referrerJson,
    referrerDomain: referrer?.domain ?? '',
    tags: NO_TAGS,
    clickId: undefined,
    attribution,
  });
}

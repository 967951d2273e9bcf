import type { Source, Sources } from '@weir/domain/source';
import { cachedByCut } from './cached-by-cut.ts';
import { NO_TAGS } from './hit.ts';
import { domainOf } from './host-domain.ts';
import { jsonText } from './json-text.ts';
import { cutUrl, type QueryCut } from './query-cut.ts';
import { attribute, type Origin } from './traffic.ts';
import { visitJson } from './visit-json.ts';

/** A referrer, taken apart. */
export interface Referrer extends Origin {
  /** As it is stored. */
  readonly json: string;
  /** In lower case; empty where the text is no page and no app. Of an Android app, its package. */
  readonly hostname: string;
  /** The registrable domain, or the host where it has none; of an app, its package. */
  readonly domain: string;
  /** Columns `referrer` to `traffic_source` of a visit from there without tags or a click ID, as most are. */
  readonly untaggedJson: string;
  /** The same where it is a page of the site itself. */
  readonly internalJson: string;
}

/** A site that cuts queries cuts those of its referrers too: they are its own pages', or say what somebody searched for. */
export function createReferrers(sources: Sources): (referrer: string, cut?: QueryCut) => Referrer {
  const cached = cachedByCut((referrer, cut) => parseReferrer(referrer, sources, cut));
  const none = parseReferrer('', sources, undefined);
  return (referrer, cut) => (referrer === '' ? none : cached(referrer, cut));
}

function parseReferrer(referrer: string, sources: Sources, cut: QueryCut | undefined): Referrer {
  const json = jsonText(cut === undefined ? referrer : withoutFragment(cutUrl(referrer, cut)));
  const internalJson = untagged(json, undefined, sources);
  const origin = originOf(referrer, sources);
  if (origin === undefined) {
    return { json, hostname: '', domain: '', source: undefined, untaggedJson: internalJson, internalJson };
  }
  return { json, ...origin, untaggedJson: untagged(json, origin, sources), internalJson };
}

/** Undefined where a visit came from no page: `about:blank`, an extension, a file, a text that is no URL. */
function originOf(
  referrer: string,
  sources: Sources,
): { hostname: string; domain: string; source: Source | undefined } | undefined {
  const url = URL.canParse(referrer) ? new URL(referrer) : undefined;
  // A trailing dot is DNS's way to say the same host.
  const hostname = url?.hostname.toLowerCase().replace(/\.$/, '') ?? '';
  if (url === undefined || hostname === '') return undefined;
  switch (url.protocol) {
    case 'http:':
    case 'https:':
      return { hostname, domain: domainOf(hostname), source: sources.ofReferrer(hostname, url.pathname) };
    case 'android-app:':
    case 'ios-app:':
      return { hostname, domain: hostname, source: sources.ofApp(hostname) };
    default:
      return undefined;
  }
}

function withoutFragment(url: string): string {
  const hash = url.indexOf('#');
  return hash < 0 ? url : url.slice(0, hash);
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

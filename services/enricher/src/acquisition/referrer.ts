import { NO_CAMPAIGN_TAGS } from '@weir/domain/acquisition/campaign-tags';
import type { Source, Sources } from '@weir/domain/acquisition/source';
import { cachedByCut } from '../encoding/cached-by-cut.ts';
import { flat, jsonText } from '../encoding/json-text.ts';
import { type SourceJson, sourceJson } from '../encoding/source-columns.ts';
import { attribute, type Origin } from './classify-traffic.ts';
import { domainOf } from './host-domain.ts';
import { cutUrl, type QueryCut, withoutFragment } from './query-cut.ts';

export interface Referrer extends Origin {
  /** The encoded column `referrer`. */
  readonly json: string;
  /** The host in lower case, or the package of an Android app. Empty if the referrer is neither a page nor an app. */
  readonly hostname: string;
  /** The registrable domain, or the host if it has none, or the package of an app. */
  readonly domain: string;
  /**
   * The encoded columns that say where the visitor came from (source-columns.ts), for a hit without campaign tags and click ID. Most hits have
   * neither.
   */
  readonly untaggedJson: SourceJson;
  /** The same columns if the referrer is a page of the site itself. */
  readonly internalJson: SourceJson;
}

/**
 * Returns a function that parses referrers, with a cache. The query of a referrer can contain what a person searched for. Only the query parameters
 * that the site keeps in its own URLs are therefore kept.
 */
export function createReferrers(sources: Sources): (referrer: string, cut?: QueryCut) => Referrer {
  const cached = cachedByCut((referrer, cut) => parseReferrer(referrer, sources, cut));
  const none = parseReferrer('', sources, undefined);
  return (referrer, cut) => (referrer === '' ? none : cached(referrer, cut));
}

function parseReferrer(referrer: string, sources: Sources, cut: QueryCut | undefined): Referrer {
  const json = jsonText(cut === undefined ? referrer : withoutFragment(cutUrl(referrer, cut)));
  return new ParsedReferrer(json, originOf(referrer, sources), sources);
}

/** Computes `untaggedJson` and `internalJson` when they are needed: most referrers need only one of them, or neither. */
class ParsedReferrer implements Referrer {
  readonly json: string;
  readonly hostname: string;
  readonly domain: string;
  readonly source: Source | undefined;
  readonly #sources: Sources;
  #untagged: SourceJson | undefined;
  #internal: SourceJson | undefined;

  constructor(json: string, origin: ReturnType<typeof originOf>, sources: Sources) {
    this.json = json;
    this.hostname = origin?.hostname ?? '';
    this.domain = origin?.domain ?? '';
    this.source = origin?.source;
    this.#sources = sources;
  }

  get untaggedJson(): SourceJson {
    this.#untagged ??= this.hostname === '' ? this.internalJson : untagged(this.json, this, this.#sources);
    return this.#untagged;
  }

  get internalJson(): SourceJson {
    this.#internal ??= untagged(this.json, undefined, this.#sources);
    return this.#internal;
  }
}

/**
 * Returns undefined if the referrer is neither a page nor an app, for example `about:blank`, an extension, a file, or a text that
 * is not a URL.
 */
function originOf(
  referrer: string,
  sources: Sources,
): { hostname: string; domain: string; source: Source | undefined } | undefined {
  const url = URL.canParse(referrer) ? new URL(referrer) : undefined;
  // The trailing dot is removed, because a host name means the same with and without it.
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

function untagged(referrerJson: string, referrer: Origin | undefined, sources: Sources): SourceJson {
  const attribution = attribute({ tags: NO_CAMPAIGN_TAGS, clickId: undefined, referrer }, sources);
  const { columns, visit } = sourceJson({
    referrerJson,
    referrerDomain: referrer?.domain ?? '',
    tags: NO_CAMPAIGN_TAGS,
    clickId: undefined,
    attribution,
  });
  return { columns: flat(columns), visit: flat(visit) };
}

import type { Site } from '@weir/domain/site';
import type { Sources } from '@weir/domain/source';
import { NO_TAGS, type Step, type Tags } from '../hit.ts';
import { createHostDomains } from '../host-domain.ts';
import { jsonText } from '../json-text.ts';
import type { PageUrl } from '../page-url.ts';
import { cutPath, type QueryCut, queryCutOf } from '../query-cut.ts';
import type { Referrer } from '../referrer.ts';
import { attribute } from '../traffic.ts';
import { visitJson } from '../visit-json.ts';

export interface PutSourceDeps {
  readonly sources: Sources;
  readonly pageUrl: (url: string, cut: QueryCut | undefined) => PageUrl;
  readonly referrer: (referrer: string, cut: QueryCut | undefined) => Referrer;
}

const NO_VISIT = { channel: '', trafficSource: '' };

/** The page, the referrer and the tags, and the channel that they make. */
export function createPutSource({ sources, pageUrl, referrer: referrerOf }: PutSourceDeps): Step {
  const domainOf = createHostDomains();
  return (hit) => {
    const cut = queryCutOf(hit.site);
    const page = pageUrl(hit.url, cut);
    const referrer = referrerOf(hit.referrer, cut);
    // A path that was sent with a query is read like a URL where there is none.
    const tagged = hit.url === '' && hit.pathname.includes('?') ? pageUrl(hit.pathname, cut) : page;
    hit.hostname ||= page.hostname;
    if (hit.pathname === '') hit.pathname = page.pathname;
    else if (hit.pathname.includes('?')) hit.pathname = cutPath(hit.pathname, cut);
    const { hostname, pathname } = hit;
    const pageJson =
      hostname === page.hostname && pathname === page.pathname
        ? page.json
        : `${page.urlJson},${jsonText(hostname)},${jsonText(pathname)}`;
    const tags = mergedTags(hit.tags, tagged.tags);
    const external = isExternal(referrer, hostname, hit.site, domainOf) ? referrer : undefined;
    const clickId = tagged.clickId;
    // A server event that tells of no page was not a direct visit either.
    const ofNoVisit = hit.kind === 'event' && hit.url === '' && hit.referrer === '' && tagged === page;
    if (tags === NO_TAGS && clickId === undefined && !ofNoVisit) {
      hit.sourceJson = `${pageJson},${external === undefined ? referrer.internalJson : referrer.untaggedJson}`;
      return undefined;
    }
    const attribution = ofNoVisit ? NO_VISIT : attribute({ tags, clickId, referrer: external }, sources);
    const referrerDomain = external?.domain ?? '';
    hit.sourceJson = `${pageJson},${visitJson({ referrerJson: referrer.json, referrerDomain, tags, clickId, attribution })}`;
    return undefined;
  };
}

/** A field that was sent wins over the URL's query (tables.md). */
function mergedTags(sent: Tags, query: Tags): Tags {
  if (sent === NO_TAGS) return query;
  if (query === NO_TAGS) return sent;
  return {
    utmSource: sent.utmSource || query.utmSource,
    utmMedium: sent.utmMedium || query.utmMedium,
    utmCampaign: sent.utmCampaign || query.utmCampaign,
    utmTerm: sent.utmTerm || query.utmTerm,
    utmContent: sent.utmContent || query.utmContent,
    ref: sent.ref || query.ref,
    source: sent.source || query.source,
    via: sent.via || query.via,
  };
}

/**
 * A visit that goes on within one registrable domain, the page's or the site's, has no source of its own (issue 5, Source): it
 * is Direct, with an empty traffic_source and referrer_domain. The referrer stays.
 */
function isExternal(
  { hostname: from, domain }: Referrer,
  hostname: string,
  site: Site | undefined,
  domainOf: (hostname: string) => string,
): boolean {
  if (from === '' || from === hostname || domain === domainOf(hostname)) return false;
  return site === undefined || domain !== domainOf(site.domain);
}

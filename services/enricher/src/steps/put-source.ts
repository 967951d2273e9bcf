import type { Site } from '@weir/domain/site';
import type { Sources } from '@weir/domain/source';
import { NO_TAGS, type Step, type Tags } from '../hit.ts';
import { jsonText } from '../json-text.ts';
import type { PageUrl } from '../page-url.ts';
import type { Referrer } from '../referrer.ts';
import { attribute } from '../traffic.ts';
import { visitJson } from '../visit-json.ts';

export interface PutSourceDeps {
  readonly sources: Sources;
  readonly pageUrl: (url: string) => PageUrl;
  readonly referrer: (referrer: string) => Referrer;
}

const NO_VISIT = { channel: '', trafficSource: '' };

/** The page, the referrer and the tags, and the channel that they make. */
export function createPutSource({ sources, pageUrl, referrer: referrerOf }: PutSourceDeps): Step {
  return (hit) => {
    const page = pageUrl(hit.url);
    const referrer = referrerOf(hit.referrer);
    hit.hostname ||= page.hostname;
    hit.pathname ||= page.pathname;
    const { hostname, pathname } = hit;
    const pageJson =
      hostname === page.hostname && pathname === page.pathname
        ? page.json
        : `${page.urlJson},${jsonText(hostname)},${jsonText(pathname)}`;
    const tags = mergedTags(hit.tags, page.tags);
    const external = isExternal(referrer, hostname, hit.site) ? referrer : undefined;
    const clickId = page.clickId;
    // A server event that tells of no page was not a direct visit either.
    const ofNoVisit = hit.kind === 'event' && hit.url === '' && hit.referrer === '';
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

/** A visit that goes on within the site, its subdomains included, has no source of its own. */
function isExternal(referrer: Referrer, hostname: string, site: Site | undefined): boolean {
  if (referrer.hostname === '') return false;
  const from = bare(referrer.hostname);
  if (from === bare(hostname)) return false;
  const domain = site === undefined ? '' : bare(site.domain);
  return domain === '' || (from !== domain && !from.endsWith(`.${domain}`));
}

function bare(hostname: string): string {
  return hostname.startsWith('www.') ? hostname.slice(4) : hostname;
}

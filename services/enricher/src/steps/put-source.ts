import type { Site } from '@weir/domain/site';
import type { Sources } from '@weir/domain/source';
import { NO_TAGS, type Step, type Tags } from '../hit.ts';
import { jsonText } from '../json-text.ts';
import type { PageUrl } from '../page-url.ts';
import type { Referrer } from '../referrer.ts';
import { attribute } from '../traffic.ts';

export interface PutSourceDeps {
  readonly sources: Sources;
  readonly pageUrl: (url: string) => PageUrl;
  readonly referrer: (referrer: string) => Referrer;
}

const NO_TAGS_JSON = '"","","","","","","",""';

/** The page, the referrer and the tags, and the channel that they make. */
export function createPutSource({ sources, pageUrl, referrer: referrerOf }: PutSourceDeps): Step {
  return (hit) => {
    const page = pageUrl(hit.url);
    const referrer = referrerOf(hit.referrer);
    const hostname = hit.hostname || page.hostname;
    hit.pathname ||= page.pathname;
    hit.hostname = hostname;
    const tags = mergedTags(hit.tags, page.tags);
    const external = isExternal(referrer, hostname, hit.site) ? referrer : undefined;
    const clickId = page.clickId;
    // A server event that tells of no page was not a direct visit either.
    const ofNoVisit = hit.kind === 'event' && hit.url === '' && hit.referrer === '';
    const { channel, trafficSource } = ofNoVisit ? NO_VISIT : attribute({ tags, clickId, referrer: external }, sources);
    hit.sourceJson = `${page.urlJson},${jsonText(hostname)},${jsonText(hit.pathname)},${referrer.json},${
      external === undefined ? '""' : jsonText(external.domain)
    },${tags === NO_TAGS ? NO_TAGS_JSON : tagsJson(tags)},"${clickId?.type ?? ''}","${channel}",${jsonText(trafficSource)}`;
    return undefined;
  };
}

const NO_VISIT = { channel: '', trafficSource: '' };

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

/** Columns `utm_source` to `via`. */
function tagsJson(tags: Tags): string {
  const { utmSource, utmMedium, utmCampaign, utmTerm, utmContent, ref, source, via } = tags;
  return [utmSource, utmMedium, utmCampaign, utmTerm, utmContent, ref, source, via].map(jsonText).join(',');
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

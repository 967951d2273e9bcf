import { mergeCampaignTags, NO_CAMPAIGN_TAGS } from '@weir/domain/acquisition/campaign-tags';
import type { Sources } from '@weir/domain/acquisition/source';
import type { Site } from '@weir/domain/registry/site';
import { attribute } from '../acquisition/classify-traffic.ts';
import { createHostDomains } from '../acquisition/host-domain.ts';
import type { PageUrl } from '../acquisition/page-url.ts';
import { cutPath, type QueryCut, queryCutOf, queryOf } from '../acquisition/query-cut.ts';
import type { Referrer } from '../acquisition/referrer.ts';
import { jsonText } from '../encoding/json-text.ts';
import { sourceJson } from '../encoding/source-columns.ts';
import type { EnrichedEvent } from '../pipeline/enriched-event.ts';
import type { Step } from '../pipeline/step.ts';

export interface PutSourceDeps {
  readonly sources: Sources;
  readonly pageUrl: (url: string, cut: QueryCut | undefined) => PageUrl;
  readonly referrer: (referrer: string, cut: QueryCut | undefined) => Referrer;
}

const NO_VISIT = { channel: '', trafficSource: '' };

/** Fills in the page, the referrer, the campaign tags and the channel. */
export function createPutSource({ sources, pageUrl, referrer: referrerOf }: PutSourceDeps): Step {
  const domainOf = createHostDomains();
  const apply: Step['apply'] = (event) => {
    const cut = queryCutOf(event.site);
    const page = pageUrl(event.url, cut);
    const referrer = referrerOf(event.referrer, cut);
    const pathQuery = event.pathname.includes('?') ? taggedQueryOf(event) : undefined;
    const path = pathQuery === undefined ? page : pageUrl(`?${pathQuery}`, cut);
    event.hostname ||= page.hostname;
    if (event.pathname === '') event.pathname = page.pathname;
    else if (event.pathname.includes('?')) event.pathname = cutPath(event.pathname, cut);
    const { hostname, pathname } = event;
    const pageJson =
      hostname === page.hostname && pathname === page.pathname
        ? page.json
        : `${page.urlJson},${jsonText(hostname)},${jsonText(pathname)}`;
    const tags = mergeCampaignTags(event.tags, page.tags === NO_CAMPAIGN_TAGS ? path.tags : page.tags);
    const external = isExternal(referrer, hostname, event.site, domainOf) ? referrer : undefined;
    const clickId = page.clickId ?? path.clickId;
    // A server event without a URL and without a referrer is not a visit. Its channel is empty, and not Direct.
    const ofNoVisit = event.kind === 'event' && event.url === '' && event.referrer === '' && path === page;
    if (tags === NO_CAMPAIGN_TAGS && clickId === undefined && !ofNoVisit) {
      const { columns, visit } = external === undefined ? referrer.internalJson : referrer.untaggedJson;
      event.sourceJson = `${pageJson},${columns}`;
      event.visitSourceJson = visit;
      return undefined;
    }
    const attribution = ofNoVisit ? NO_VISIT : attribute({ tags, clickId, referrer: external }, sources);
    const referrerDomain = external?.domain ?? '';
    const { columns, visit } = sourceJson({ referrerJson: referrer.json, referrerDomain, tags, clickId, attribution });
    event.sourceJson = `${pageJson},${columns}`;
    event.visitSourceJson = visit;
    return undefined;
  };
  return { name: 'put-source', apply };
}

/**
 * Returns the query of the pathname if it can have tags that the URL lacks, and otherwise undefined. It can if the event has no URL. It also can if
 * the pages of the site are in the fragment (`/#/pricing?utm_source=…`), because the snippet sends the fragment only in the pathname.
 */
function taggedQueryOf({ url, pathname }: EnrichedEvent): string | undefined {
  if (url === '') return queryOf(pathname);
  const hash = pathname.indexOf('#');
  return hash < 0 ? undefined : queryOf(pathname.slice(hash));
}

/**
 * A referrer is external if it is a page or an app, and its domain is neither that of the visited page nor that of the site. For any other referrer,
 * the column referrer_domain is empty, and a visit without tags and click ID has the channel Direct and an empty traffic_source. The column referrer
 * contains the referrer in all cases.
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

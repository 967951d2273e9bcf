import { type CampaignTags, campaignTagsOfQuery, NO_CAMPAIGN_TAGS } from '@weir/domain/acquisition/campaign-tags';
import { type ClickId, clickIdOf } from '@weir/domain/acquisition/click-id';
import { cutChars, pageOf } from '@weir/domain/ingest/context';
import { cachedByCut } from '../encoding/cached-by-cut.ts';
import { jsonText } from '../encoding/json-text.ts';
import { cutUrl, type QueryCut, withoutFragment } from './query-cut.ts';

export interface PageUrl {
  /** The encoded column `url`: the URL without its fragment, and only with the query parameters that the site keeps. */
  readonly urlJson: string;
  readonly hostname: string;
  readonly pathname: string;
  /** The columns `url`, `hostname` and `pathname` as JSON, for an event that did not send its own hostname and pathname. */
  readonly json: string;
  /** The campaign tags in the query. */
  readonly tags: CampaignTags;
  readonly clickId: ClickId | undefined;
}

const TAG_CHARS_MAX = 255;
/** A base URL with which a relative URL can be parsed. */
const ANY_BASE = 'http://host.invalid';

export function createPageUrls(): (url: string, cut?: QueryCut) => PageUrl {
  return cachedByCut(parsePageUrl);
}

function parsePageUrl(url: string, cut: QueryCut | undefined): PageUrl {
  const urlJson = jsonText(cutUrl(withoutFragment(url), cut));
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const base = parsed ?? (URL.canParse(url, ANY_BASE) ? new URL(url, ANY_BASE) : undefined);
  const query = base === undefined || base.search.length < 2 ? undefined : base.searchParams;
  const { hostname, pathname } = (parsed && pageOf(parsed)) ?? { hostname: '', pathname: '' };
  return {
    urlJson,
    hostname,
    pathname,
    json: `${urlJson},${jsonText(hostname)},${jsonText(pathname)}`,
    tags:
      query === undefined
        ? NO_CAMPAIGN_TAGS
        : campaignTagsOfQuery((tag) => cutChars(firstText(query.getAll(tag)), TAG_CHARS_MAX)),
    clickId: query === undefined ? undefined : clickIdOf(query),
  };
}

/** Returns the first text that is not empty, or an empty text if there is none. */
function firstText(texts: readonly string[]): string {
  return texts.find((text) => text !== '') ?? '';
}

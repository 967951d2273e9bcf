import { type ClickId, clickIdOf } from '@weir/domain/click-id';
import { cutChars } from '@weir/domain/context';
import { cachedByCut } from './cached-by-cut.ts';
import { NO_TAGS, type Tags } from './hit.ts';
import { jsonText } from './json-text.ts';
import { cutUrl, type QueryCut } from './query-cut.ts';

/** A page's URL, taken apart. */
export interface PageUrl {
  /** As it is stored: without its fragment, and with those parameters that the site keeps. */
  readonly urlJson: string;
  readonly hostname: string;
  readonly pathname: string;
  /** Columns `url` to `pathname`, where hostname and pathname are its own. */
  readonly json: string;
  /** From the query; the same object `NO_TAGS` where it has none. */
  readonly tags: Tags;
  readonly clickId: ClickId | undefined;
}

const TAG_CHARS_MAX = 255;
/** For URLs without a host: only the query is read of it. */
const ANY_BASE = 'http://host.invalid';

export function createPageUrls(): (url: string, cut?: QueryCut) => PageUrl {
  return cachedByCut(parsePageUrl);
}

function parsePageUrl(url: string, cut: QueryCut | undefined): PageUrl {
  const hash = url.indexOf('#');
  const urlJson = jsonText(cutUrl(hash < 0 ? url : url.slice(0, hash), cut));
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  const base = parsed ?? (URL.canParse(url, ANY_BASE) ? new URL(url, ANY_BASE) : undefined);
  const query = base === undefined || base.search.length < 2 ? undefined : base.searchParams;
  const { hostname = '', pathname = '' } = parsed ?? {};
  return {
    urlJson,
    hostname,
    pathname,
    json: `${urlJson},${jsonText(hostname)},${jsonText(pathname)}`,
    tags: query === undefined ? NO_TAGS : tagsOf(query),
    clickId: query === undefined ? undefined : clickIdOf(query),
  };
}

function tagsOf(query: URLSearchParams): Tags {
  const tag = (name: string) => cutChars(query.get(name) ?? '', TAG_CHARS_MAX);
  const tags: Tags = {
    utmSource: tag('utm_source'),
    utmMedium: tag('utm_medium'),
    utmCampaign: tag('utm_campaign'),
    utmTerm: tag('utm_term'),
    utmContent: tag('utm_content'),
    ref: tag('ref'),
    source: tag('source'),
    via: tag('via'),
  };
  return Object.values(tags).some((value) => value !== '') ? tags : NO_TAGS;
}

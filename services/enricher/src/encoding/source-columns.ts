import {
  type CampaignTags,
  FIRST_TAG_COLUMNS,
  FIRST_UTM_TAGS,
  joinFirstTags,
  joinFirstUtmTags,
  NO_CAMPAIGN_TAGS,
} from '@weir/domain/acquisition/campaign-tags';
import type { ClickId } from '@weir/domain/acquisition/click-id';
import type { Attribution } from '../acquisition/classify-traffic.ts';
import { jsonText } from './json-text.ts';
import { laterTagsOf, NO_LATER_TAGS } from './later-tags.ts';

export interface SourceValues {
  readonly referrerJson: string;
  readonly referrerDomain: string;
  readonly tags: CampaignTags;
  readonly clickId: ClickId | undefined;
  readonly attribution: Omit<Attribution, 'channel'> & { readonly channel: string };
}

const NO_TAGS_JSON = emptyJson(FIRST_TAG_COLUMNS);
const NO_UTM_JSON = emptyJson(FIRST_UTM_TAGS) + NO_LATER_TAGS;

/** The columns that come from the URL of the page. */
export const PAGE_COLUMNS = ['url', 'hostname', 'pathname'] as const;
/** The columns that `sourceJson` below encodes: referrer, campaign tags, click ID, channel and source. */
export const SOURCE_COLUMNS = [
  'referrer',
  'referrer_domain',
  ...FIRST_TAG_COLUMNS,
  'click_id_type',
  'channel',
  'traffic_source',
] as const;
export const NO_PAGE_JSON = emptyJson(PAGE_COLUMNS);
export const NO_SOURCE_JSON = emptyJson(SOURCE_COLUMNS);

function emptyJson(columns: readonly string[]): string {
  return columns.map(() => '""').join(',');
}

/** Encoded columns that say where the visitor of a hit came from. */
export interface SourceJson {
  /** The columns SOURCE_COLUMNS. */
  readonly columns: string;
  /**
   * The columns from `visit_source` on, which describe the visit of a row. They apply if the visit begins with this hit. The text ends with
   * `laterTagsOf(tags)`.
   */
  readonly visit: string;
}

export function sourceJson({ referrerJson, referrerDomain, tags, clickId, attribution }: SourceValues): SourceJson {
  const isTagged = tags !== NO_CAMPAIGN_TAGS;
  const channel = `"${attribution.channel}"`;
  const source = jsonText(attribution.trafficSource);
  const domain = jsonText(referrerDomain);
  const tagTexts = isTagged ? joinFirstTags(tags, jsonText) : NO_TAGS_JSON;
  const utmTexts = isTagged ? joinFirstUtmTags(tags, jsonText) + laterTagsOf(tags) : NO_UTM_JSON;
  return {
    columns: `${referrerJson},${domain},${tagTexts},"${clickId?.type ?? ''}",${channel},${source}`,
    visit: `${source},${channel},${domain},${utmTexts}`,
  };
}

import {
  CAMPAIGN_TAG_COLUMNS,
  type CampaignTags,
  joinCampaignTags,
  NO_CAMPAIGN_TAGS,
} from '@weir/domain/acquisition/campaign-tags';
import type { ClickId } from '@weir/domain/acquisition/click-id';
import type { Attribution } from '../acquisition/classify-traffic.ts';
import { jsonText } from './json-text.ts';

export interface SourceValues {
  readonly referrerJson: string;
  readonly referrerDomain: string;
  readonly tags: CampaignTags;
  readonly clickId: ClickId | undefined;
  readonly attribution: Omit<Attribution, 'channel'> & { readonly channel: string };
}

const NO_TAGS_JSON = emptyJson(CAMPAIGN_TAG_COLUMNS);

/** The columns that come from the URL of the page. */
export const PAGE_COLUMNS = ['url', 'hostname', 'pathname'] as const;
/** The columns that `sourceColumnsJson` below encodes: referrer, campaign tags, click ID, channel and source. */
export const SOURCE_COLUMNS = [
  'referrer',
  'referrer_domain',
  ...CAMPAIGN_TAG_COLUMNS,
  'click_id_type',
  'channel',
  'traffic_source',
] as const;
export const NO_PAGE_JSON = emptyJson(PAGE_COLUMNS);
export const NO_SOURCE_JSON = emptyJson(SOURCE_COLUMNS);

function emptyJson(columns: readonly string[]): string {
  return columns.map(() => '""').join(',');
}

/** Encodes the columns SOURCE_COLUMNS. */
export function sourceColumnsJson({ referrerJson, referrerDomain, tags, clickId, attribution }: SourceValues): string {
  const tagTexts = tags === NO_CAMPAIGN_TAGS ? NO_TAGS_JSON : joinCampaignTags(tags, jsonText);
  const { channel, trafficSource } = attribution;
  return `${referrerJson},${jsonText(referrerDomain)},${tagTexts},"${clickId?.type ?? ''}","${channel}",${jsonText(trafficSource)}`;
}

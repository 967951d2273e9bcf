import { CAMPAIGN_TAGS } from './campaign-tags.ts';

/**
 * A query parameter that an advertising platform or mailing service adds to its links (docs/tables.md, click_id_type). Upper and
 * lower case make no difference.
 */
export interface ClickId {
  /** The parameter's usual name, in lower case: Snapchat's `ScCid` is `sccid`. */
  readonly type: string;
  /** The source of the visit, if no tag names one. If `medium` is empty, a referrer with a known source takes precedence. */
  readonly source: string;
  /** The medium of the visit; empty if the platform adds the parameter to unpaid links too. */
  readonly medium: string;
}

const CLICK_IDS: readonly ClickId[] = [
  { type: 'gclid', source: 'google', medium: 'cpc' },
  { type: 'gbraid', source: 'google', medium: 'cpc' },
  { type: 'wbraid', source: 'google', medium: 'cpc' },
  { type: 'dclid', source: 'google', medium: 'display' },
  { type: 'msclkid', source: 'bing', medium: 'cpc' },
  { type: 'yclid', source: 'yandex', medium: 'cpc' },
  { type: 'fbclid', source: 'facebook', medium: '' },
  { type: 'igshid', source: 'instagram', medium: '' },
  { type: 'igsh', source: 'instagram', medium: '' },
  { type: 'ttclid', source: 'tiktok', medium: 'cpc' },
  { type: 'twclid', source: 'twitter', medium: 'cpc' },
  { type: 'li_fat_id', source: 'linkedin', medium: 'cpc' },
  { type: 'rdt_cid', source: 'reddit', medium: 'cpc' },
  { type: 'sccid', source: 'snapchat', medium: 'cpc' },
  { type: 'epik', source: 'pinterest', medium: 'cpc' },
  { type: 'qclid', source: 'quora', medium: 'cpc' },
  { type: 'irclickid', source: 'impact', medium: 'affiliate' },
  { type: 'awc', source: 'awin', medium: 'affiliate' },
  { type: 'cjevent', source: 'cj', medium: 'affiliate' },
  { type: 'mc_eid', source: 'mailchimp', medium: 'email' },
  { type: '_kx', source: 'klaviyo', medium: 'email' },
  { type: 'vero_id', source: 'vero', medium: 'email' },
  { type: 'mkt_tok', source: 'marketo', medium: 'email' },
  { type: '_hsenc', source: 'hubspot', medium: 'email' },
];

const BY_PARAMETER = new Map(CLICK_IDS.map((clickId) => [clickId.type.toLowerCase(), clickId]));

const TAGS: ReadonlySet<string> = new Set(CAMPAIGN_TAGS);

/** True for a query parameter that only says where a visit came from, and nothing about the page. */
export function isCampaignParameter(name: string): boolean {
  const lower = name.toLowerCase();
  return TAGS.has(name) || lower.startsWith('utm_') || BY_PARAMETER.has(lower);
}

/**
 * Returns the click ID of a query; `undefined` if there is none. Parameters without a value are ignored. A query can have several click IDs, for
 * example if the URL of an ad was copied from Facebook. The first one with a medium is then returned. If none has a medium, the first one is
 * returned.
 */
export function clickIdOf(query: URLSearchParams): ClickId | undefined {
  let first: ClickId | undefined;
  for (const [parameter, value] of query) {
    const clickId = value === '' ? undefined : BY_PARAMETER.get(parameter.toLowerCase());
    if (clickId === undefined) continue;
    if (clickId.medium !== '') return clickId;
    first ??= clickId;
  }
  return first;
}

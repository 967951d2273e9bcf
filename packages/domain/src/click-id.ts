/**
 * Query parameters that ad platforms and mailers add to the links that they send people through (tables.md, click_id_type).
 * Read in any case; the type is what people call it, in lower case.
 */
export interface ClickId {
  readonly type: string;
  /** The source it stands for where nothing else names one. */
  readonly source: string;
  /** The medium it stands for; empty where it is added to unpaid links too. */
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

/** They tag a link: columns of their own in tables.md. */
const TAGS = new Set(['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content', 'ref', 'source', 'via']);

/** It says where a visit came from, and nothing about the page. */
export function isCampaignParameter(name: string): boolean {
  const lower = name.toLowerCase();
  return TAGS.has(name) || lower.startsWith('utm_') || BY_PARAMETER.has(lower);
}

/** The first click ID of a query, in the query's order. */
export function clickIdOf(query: URLSearchParams): ClickId | undefined {
  for (const [parameter, value] of query) {
    const clickId = value === '' ? undefined : BY_PARAMETER.get(parameter.toLowerCase());
    if (clickId !== undefined) return clickId;
  }
  return undefined;
}

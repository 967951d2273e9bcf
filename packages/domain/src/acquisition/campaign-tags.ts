/** The UTM parameters of Google Analytics that version 1 of the column list (records-columns.ts) has. */
export const FIRST_UTM_TAGS = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const;

/**
 * The UTM tags that were added later. The value is the first version of the column list (records-columns.ts) that has the tag, for
 * example `{ utm_id: 3 }`. The tags of a released version never change. Add a new tag at the end.
 *
 * CONTRIBUTING.md lists the files that a new tag changes ("How to add a campaign tag").
 */
export const LATER_UTM_TAGS = {} as const satisfies Readonly<Record<`utm_${string}`, number>>;

export type LaterUtmTag = keyof typeof LATER_UTM_TAGS;
export type UtmTag = (typeof FIRST_UTM_TAGS)[number] | LaterUtmTag;

export const LATER_UTM_TAG_NAMES = namesOf<LaterUtmTag>(LATER_UTM_TAGS);

function namesOf<Name extends string>(versions: Readonly<Record<Name, number>>): readonly Name[] {
  return Object.keys(versions) as Name[];
}

/** All UTM tags. `records` and `sessions` have a column for each, and each is a dimension of reports. */
export const UTM_TAGS: readonly UtmTag[] = [...FIRST_UTM_TAGS, ...LATER_UTM_TAG_NAMES];

/**
 * The parameters of a link that name the campaign or the site to which the link belongs. A parameter has the same name in the query of a URL
 * and in the body of a collect hit (POST /api/collect).
 */
export const CAMPAIGN_TAGS = [...UTM_TAGS, 'ref', 'source', 'via'] as const;

/** The columns of the tags that version 1 of the column list has. `source_param` has this name because `records` has another column `source`. */
export const FIRST_TAG_COLUMNS = [...FIRST_UTM_TAGS, 'ref', 'source_param', 'via'] as const;

/** The columns of all tags. */
export const CAMPAIGN_TAG_COLUMNS = [...FIRST_TAG_COLUMNS, ...LATER_UTM_TAG_NAMES] as const;

type CampaignTag = (typeof CAMPAIGN_TAGS)[number];

/** The value of each tag; an empty text if the tag is absent. */
export type CampaignTags = Readonly<Record<CampaignTag, string>>;

/**
 * Converts every tag of `from`. This file names the properties one by one, because V8 looks up computed names slowly: with
 * loops, each collect hit was 5 % slower. The type checker reports a tag that is missing in an object.
 */
function mapTags<From, To>(
  from: Readonly<Partial<Record<CampaignTag, From>>>,
  convert: (value: From | undefined, tag: CampaignTag) => To,
): Record<CampaignTag, To> {
  return {
    utm_source: convert(from.utm_source, 'utm_source'),
    utm_medium: convert(from.utm_medium, 'utm_medium'),
    utm_campaign: convert(from.utm_campaign, 'utm_campaign'),
    utm_term: convert(from.utm_term, 'utm_term'),
    utm_content: convert(from.utm_content, 'utm_content'),
    ref: convert(from.ref, 'ref'),
    source: convert(from.source, 'source'),
    via: convert(from.via, 'via'),
  };
}

/** True if any tag has a value other than undefined and the empty text. */
export function hasCampaignTag(from: Readonly<Partial<Record<CampaignTag, unknown>>>): boolean {
  return (
    isGiven(from.utm_source) ||
    isGiven(from.utm_medium) ||
    isGiven(from.utm_campaign) ||
    isGiven(from.utm_term) ||
    isGiven(from.utm_content) ||
    isGiven(from.ref) ||
    isGiven(from.source) ||
    isGiven(from.via)
  );
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== '';
}

/** The value for a URL or a hit without tags. It is always this object, so the code recognises it with `===`. */
export const NO_CAMPAIGN_TAGS: CampaignTags = mapTags({}, () => '');

export function campaignTagsOfBody<Value>(
  body: Readonly<Partial<Record<CampaignTag, Value>>>,
  textOf: (value: Value | undefined) => string,
): CampaignTags {
  return hasCampaignTag(body) ? orNone(mapTags(body, textOf)) : NO_CAMPAIGN_TAGS;
}

export function campaignTagsOfQuery(textOf: (tag: CampaignTag) => string): CampaignTags {
  return orNone(mapTags({}, (_, tag) => textOf(tag)));
}

/** Merges the tags of a body and of the query of its URL. A tag in the body replaces the same tag in the query (docs/tables.md). */
export function mergeCampaignTags(sent: CampaignTags, query: CampaignTags): CampaignTags {
  if (sent === NO_CAMPAIGN_TAGS) return query;
  if (query === NO_CAMPAIGN_TAGS) return sent;
  return {
    utm_source: sent.utm_source || query.utm_source,
    utm_medium: sent.utm_medium || query.utm_medium,
    utm_campaign: sent.utm_campaign || query.utm_campaign,
    utm_term: sent.utm_term || query.utm_term,
    utm_content: sent.utm_content || query.utm_content,
    ref: sent.ref || query.ref,
    source: sent.source || query.source,
    via: sent.via || query.via,
  };
}

/** Returns the encoded tags in the order of FIRST_TAG_COLUMNS, separated by commas. */
export function joinFirstTags(tags: CampaignTags, encode: (text: string) => string): string {
  const { ref, source, via } = tags;
  return `${joinFirstUtmTags(tags, encode)},${encode(ref)},${encode(source)},${encode(via)}`;
}

/** Returns the encoded tags in the order of FIRST_UTM_TAGS, separated by commas. */
export function joinFirstUtmTags(tags: CampaignTags, encode: (text: string) => string): string {
  const { utm_source, utm_medium, utm_campaign, utm_term, utm_content } = tags;
  return `${encode(utm_source)},${encode(utm_medium)},${encode(utm_campaign)},${encode(utm_term)},${encode(utm_content)}`;
}

function orNone(tags: CampaignTags): CampaignTags {
  return hasCampaignTag(tags) ? tags : NO_CAMPAIGN_TAGS;
}

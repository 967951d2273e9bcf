/** The parameters that Google Analytics defines for links. Sessions have a column for each, and reports can be filtered by them. */
export const UTM_TAGS = ['utm_source', 'utm_medium', 'utm_campaign', 'utm_term', 'utm_content'] as const;

/**
 * The parameters of a link that name its campaign or the site that it is on. A parameter has the same name in the query of a URL
 * and in the body of a collect hit. To add one:
 * 1. Add it here and below (if it is in UTM_TAGS, this also adds the report dimension), and to collect-hit.schema.json.
 * 2. In records-columns.ts and in packages/records/src/enriched-columns.ts, make a new version of the column list. Keep the list of
 *    the old version. Add a schema of the new version to schemas/topics.
 * 3. Write a migration: the column of `records`, and the views `event_rows`, `events` and `people_events`; for UTM_TAGS also the column of the
 *    stamp (STAMP_COLUMNS), `session_rows`, `session_parts` and `sessions`; `touches` and `payments` if payments must show it. In infra/clickhouse/users.yaml, grant what the migration alters.
 * 4. Describe it in docs/topics.md, docs/api.md and docs/tables.md.
 */
export const CAMPAIGN_TAGS = [...UTM_TAGS, 'ref', 'source', 'via'] as const;

/** The columns of CAMPAIGN_TAGS, in the same order. `source_param` has this name because `records` has another column `source`. */
export const CAMPAIGN_TAG_COLUMNS = [...UTM_TAGS, 'ref', 'source_param', 'via'] as const;

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

/** The tags of a URL or hit without tags. It is always this object, so that one comparison is enough to recognise it. */
export const NO_CAMPAIGN_TAGS: CampaignTags = mapTags({}, () => '');

/** Reads the tags of a collect hit's body. */
export function campaignTagsOfBody<Value>(
  body: Readonly<Partial<Record<CampaignTag, Value>>>,
  textOf: (value: Value | undefined) => string,
): CampaignTags {
  return hasCampaignTag(body) ? orNone(mapTags(body, textOf)) : NO_CAMPAIGN_TAGS;
}

/** Reads the tags of the query of a URL. */
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

/** Returns the encoded tags in the order of CAMPAIGN_TAGS, separated by commas. */
export function joinCampaignTags(tags: CampaignTags, encode: (text: string) => string): string {
  const { ref, source, via } = tags;
  return `${joinUtmTags(tags, encode)},${encode(ref)},${encode(source)},${encode(via)}`;
}

/** Returns the encoded tags in the order of UTM_TAGS, separated by commas. */
export function joinUtmTags(tags: CampaignTags, encode: (text: string) => string): string {
  const { utm_source, utm_medium, utm_campaign, utm_term, utm_content } = tags;
  return `${encode(utm_source)},${encode(utm_medium)},${encode(utm_campaign)},${encode(utm_term)},${encode(utm_content)}`;
}

function orNone(tags: CampaignTags): CampaignTags {
  return hasCampaignTag(tags) ? tags : NO_CAMPAIGN_TAGS;
}

import { type CampaignTags, LATER_UTM_TAG_NAMES } from '@weir/domain/acquisition/campaign-tags';
import { jsonText } from './json-text.ts';

/**
 * Later tags are UTM tags that were added after the first version of the column list (LATER_UTM_TAGS). They are the last columns of a row,
 * because a new version of the list adds columns only at the end. `joinLaterTags` puts them there. Before this step, their values follow the
 * encoded attributes of a visit. Each value comes after this separator, which an encoded JSON value never contains. The state of a visit is
 * stored in this form too.
 */
const SEPARATOR = '\t';

/** The encoded later tags of a visit without such tags: an empty text for each. */
export const NO_LATER_TAGS = LATER_UTM_TAG_NAMES.map(() => `${SEPARATOR}""`).join('');

export function laterTagsOf(tags: CampaignTags, names: readonly (keyof CampaignTags)[] = LATER_UTM_TAG_NAMES): string {
  let json = '';
  for (const name of names) json += SEPARATOR + jsonText(tags[name]);
  return json;
}

/**
 * Whether encoded attributes have as many later tags as this version of Weir. Attributes that an older version has stored in the state have fewer.
 */
export function hasLaterTags(attributes: string, count = LATER_UTM_TAG_NAMES.length): boolean {
  if (count === 0) return true;
  return attributes.split(SEPARATOR).length === count + 1;
}

/**
 * Returns the last columns of a row, encoded, in the order of the column list. First come the `visit_` columns of the first version. Then come two
 * columns for each later tag: the tag of the row, and that of its visit. `stampJson` ends with the later tags of the visit, `ownJson` with those of
 * the row.
 */
export function joinLaterTags(stampJson: string, ownJson: string): string {
  const [first = '', ...ofVisit] = stampJson.split(SEPARATOR);
  const own = ownJson.split(SEPARATOR).slice(1);
  return [first, ...own.flatMap((json, index) => [json, ofVisit[index] ?? '""'])].join(',');
}

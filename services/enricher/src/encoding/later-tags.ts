import { type CampaignTags, LATER_UTM_TAG_NAMES } from '@weir/domain/acquisition/campaign-tags';
import { jsonText } from './json-text.ts';

/**
 * UTM tags that were added after the first version of the column list (LATER_UTM_TAGS) are the last columns of a row, because a version
 * of the list only adds columns at the end. Until the row is encoded, they are behind the encoded attributes of a visit, each after a
 * separator. The separator is never part of an encoded JSON value. The state of a visit has the same form.
 */
const SEPARATOR = '\t';

/** The encoded later tags of a visit that has none of them. */
export const NO_LATER_TAGS = LATER_UTM_TAG_NAMES.map(() => `${SEPARATOR}""`).join('');

export function laterTagsOf(tags: CampaignTags, names: readonly (keyof CampaignTags)[] = LATER_UTM_TAG_NAMES): string {
  let json = '';
  for (const name of names) json += SEPARATOR + jsonText(tags[name]);
  return json;
}

/** Whether encoded attributes have as many later tags as this version of Weir. Those in the state of an older version have fewer. */
export function hasLaterTags(attributes: string, count = LATER_UTM_TAG_NAMES.length): boolean {
  if (count === 0) return true;
  return attributes.split(SEPARATOR).length === count + 1;
}

/**
 * The encoded columns from the stamp on, in the order of the column list: those of the first version of the stamp, and then each later
 * tag of the row and of its visit. `stampJson` has the later tags of the visit at its end, `ownJson` has those of the row.
 */
export function joinLaterTags(stampJson: string, ownJson: string): string {
  const [first = '', ...ofVisit] = stampJson.split(SEPARATOR);
  const own = ownJson.split(SEPARATOR).slice(1);
  return [first, ...own.flatMap((json, index) => [json, ofVisit[index] ?? '""'])].join(',');
}

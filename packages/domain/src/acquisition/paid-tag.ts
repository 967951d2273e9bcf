/** Sources that a tag of paid traffic can name (lists/paid-tags.json of the enricher). Words, names and tags are in lower case. */
export interface PaidTagList {
  /** Words that follow or precede a name in a tag of paid traffic: `ads`, `ppc`. */
  readonly words: readonly string[];
  readonly sources: readonly PaidTagEntry[];
}

export interface PaidTagEntry {
  /** The name of a source in Weir's own lists, or of an advertising network. */
  readonly source: string;
  /** Names that are combined with each of `words`: the name `facebook` and the word `ads` make the tags `facebookads` and `adsfacebook`. */
  readonly names?: readonly string[];
  /** Complete tags, to which no word is added. */
  readonly tags?: readonly string[];
  /** The medium of a visit with one of these tags, if the link has no medium. Default: `cpc`. */
  readonly medium?: 'display';
}

export interface PaidTag<Source> {
  readonly source: Source;
  /** The medium of a visit with this tag, if the link has no medium. */
  readonly medium: string;
}

/**
 * Returns a lookup of whole tags, which ignores case and separators: `Facebook-ads` is found as `facebookads`. Parts of a tag are not
 * compared, so `threads` is not found although it contains `ads`.
 */
export function createPaidTags<Source>(
  { words, sources }: PaidTagList,
  named: (name: string) => Source,
): (tag: string) => PaidTag<Source> | undefined {
  const byTag = new Map<string, PaidTag<Source>>();
  for (const { source: name, names = [], tags = [], medium = 'cpc' } of sources) {
    const paid = { source: named(name), medium };
    for (const tag of tags) byTag.set(joined(tag), paid);
    for (const prefix of names) {
      for (const word of words) byTag.set(joined(prefix + word), paid).set(joined(word + prefix), paid);
    }
  }
  return (tag) => byTag.get(joined(tag));
}

/** A tag in lower case, without its separators. */
function joined(tag: string): string {
  return tag.toLowerCase().replace(/[-_.\s]+/g, '');
}

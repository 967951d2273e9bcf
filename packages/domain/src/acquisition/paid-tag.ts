/** Sources of paid traffic that a tag can name (lists/paid-tags.json of the enricher). All texts are in lower case. */
export interface PaidTagList {
  /** What stands after or before a name in a tag of paid traffic: `ads`, `ppc`. */
  readonly words: readonly string[];
  readonly sources: readonly PaidTagEntry[];
}

export interface PaidTagEntry {
  /** The name of one of our own sources, or of an advertising network. */
  readonly source: string;
  /** Each makes a tag together with each of the words. */
  readonly names?: readonly string[];
  /** Whole tags. */
  readonly tags?: readonly string[];
  /** `cpc` where it is absent. */
  readonly medium?: 'display';
}

export interface PaidTag<Source> {
  readonly source: Source;
  /** The medium of a tag that comes without one. */
  readonly medium: string;
}

/** Looks up whole tags in any case and without separators: `Facebook-ads` is `facebookads`, and `threads` is nothing. */
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

/** A tag without its separators. */
function joined(tag: string): string {
  return tag.toLowerCase().replace(/[-_.\s]+/g, '');
}

import { createSources } from '@weir/domain/acquisition/source';
import { attribute } from '../../src/acquisition/classify-traffic.ts';
import { publicSuffixOf } from '../../src/acquisition/host-domain.ts';
import { createPageUrls } from '../../src/acquisition/page-url.ts';
import { createReferrers } from '../../src/acquisition/referrer.ts';
import { loadSourceLists } from '../../src/acquisition/source-lists.ts';

const sources = createSources(loadSourceLists(), publicSuffixOf);
const pageUrl = createPageUrls();
const referrerOf = createReferrers(sources);

/** Returns the channel and the source of a visit of the page `url` with Weir's own lists. An empty `referrer` means none. */
export function attributionOf(url: string, referrer: string): readonly [channel: string, source: string] {
  const { tags, clickId } = pageUrl(url);
  const from = referrerOf(referrer);
  const { channel, trafficSource } = attribute(
    { tags, clickId, referrer: from.hostname === '' ? undefined : from },
    sources,
  );
  return [channel, trafficSource];
}

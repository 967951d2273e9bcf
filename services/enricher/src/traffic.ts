import { type Channel, channelOf } from '@weir/domain/channel';
import type { ClickId } from '@weir/domain/click-id';
import type { Source, SourceKind, Sources } from '@weir/domain/source';
import type { Tags } from './hit.ts';

/** The site that a visit came from. */
export interface Origin {
  readonly domain: string;
  readonly source: Source | undefined;
}

/** What a visit's channel is decided by. */
export interface Visit {
  readonly tags: Tags;
  readonly clickId: ClickId | undefined;
  /** Undefined where there is none, or it is a page of the site itself. */
  readonly referrer: Origin | undefined;
}

export interface Attribution {
  readonly channel: Channel;
  /** The source's name; empty for a direct visit. */
  readonly trafficSource: string;
}

/** What an untagged visit's medium would be called, by the kind of its referrer. */
const REFERRER_MEDIUM: Readonly<Record<SourceKind, string>> = {
  search: 'organic',
  social: 'referral',
  video: 'referral',
  shopping: 'referral',
  email: 'email',
  ai: 'referral',
  ads: 'cpc',
  other: 'referral',
};

/** GA4's way to say that there is none. */
const DIRECT = '(direct)';

/** Tags win over a click ID, that over the referrer. `ref`, `source` and `via` name a source as utm_source does. */
export function attribute({ tags, clickId, referrer }: Visit, sources: Sources): Attribution {
  const linkTag = tags.ref || tags.source || tags.via;
  const tag = hostIfUrl(tags.utmSource || linkTag) || clickSource(clickId, referrer);
  const source = tag === '' ? referrer?.source : sources.ofTag(tag);
  const name = tag === DIRECT ? '' : (source?.name ?? (tag || (referrer?.domain ?? '')));
  const medium = tags.utmMedium || clickId?.medium || untaggedMedium(tags, linkTag, referrer);
  const channel = channelOf({
    source: (tag || (referrer?.domain ?? '')).toLowerCase(),
    kind: source?.kind,
    medium: medium.trim().toLowerCase(),
    campaign: tags.utmCampaign.toLowerCase(),
  });
  return { channel, trafficSource: name };
}

/** Who links with `?ref=https://blog.example/post` names a site and not a page of it: the column `ref` has it as sent. */
function hostIfUrl(tag: string): string {
  if (!/^https?:\/\//i.test(tag) || !URL.canParse(tag)) return tag;
  return new URL(tag).hostname.replace(/^www\.|\.$/g, '');
}

/** Facebook adds fbclid to the links of all its networks, unpaid ones too: a referrer that we know says more. */
function clickSource(clickId: ClickId | undefined, referrer: Origin | undefined): string {
  if (clickId === undefined || (clickId.medium === '' && referrer?.source !== undefined)) return '';
  return clickId.source;
}

/** GA4 has no medium for a visit with a utm_source alone. */
function untaggedMedium(tags: Tags, linkTag: string, referrer: Origin | undefined): string {
  if (tags.utmSource !== '') return '';
  if (linkTag !== '') return 'referral';
  return referrer === undefined ? '' : REFERRER_MEDIUM[referrer.source?.kind ?? 'other'];
}

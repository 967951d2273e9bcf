import type { CampaignTags } from '@weir/domain/acquisition/campaign-tags';
import { type Channel, channelOf } from '@weir/domain/acquisition/channel';
import type { ClickId } from '@weir/domain/acquisition/click-id';
import type { Source, SourceKind, Sources } from '@weir/domain/acquisition/source';

/** The page or app that linked to the visited page. */
export interface Origin {
  readonly domain: string;
  readonly source: Source | undefined;
}

/** The facts about a visit that decide its channel and its source. */
export interface Visit {
  readonly tags: CampaignTags;
  readonly clickId: ClickId | undefined;
  /** Undefined if there is no referrer, or if the referrer is a page of the site itself. */
  readonly referrer: Origin | undefined;
}

export interface Attribution {
  readonly channel: Channel;
  /** The name of the source. Empty for a direct visit. */
  readonly trafficSource: string;
}

/** The medium of a visit without `utm_medium` and `utm_source`, by the kind of the referrer or of the source that a tag names. */
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

/** The utm_source that GA4 uses for direct visits. */
const DIRECT = '(direct)';

/**
 * Returns the channel and the source of a visit.
 *
 * - The source is the first of these that exists: a tag, the source of `clickSource`, the referrer. The tags `ref`, `source` and `via` name a
 *   source, as utm_source does.
 * - The medium is the first of these that exists: utm_medium, the medium of the click ID, the medium of a tag that names paid traffic
 *   (`facebook-ads`), the result of `untaggedMedium`.
 *
 * GA4 does not read a medium from a tag that names paid traffic. Without utm_medium, it reports a visit with such a tag as Unassigned or organic.
 */
export function attribute({ tags, clickId, referrer }: Visit, sources: Sources): Attribution {
  const utmSource = orEmpty(tags.utm_source);
  const linkTag = orEmpty(tags.ref) || orEmpty(tags.source) || orEmpty(tags.via);
  const sentTag = hostIfUrl(utmSource || linkTag);
  const tag = sentTag || clickSource(clickId, referrer);
  const paid = sentTag === '' ? undefined : sources.ofPaidTag(sentTag);
  const source = paid?.source ?? (tag === '' ? referrer?.source : sources.ofTag(tag));
  const name = tag.trim().toLowerCase() === DIRECT ? '' : (source?.name ?? (tag || (referrer?.domain ?? '')));
  const medium =
    orEmpty(tags.utm_medium) || clickId?.medium || paid?.medium || untaggedMedium(utmSource, linkTag, source, referrer);
  const channel = channelOf({
    source: (tag || (referrer?.domain ?? '')).trim().toLowerCase(),
    kind: source?.kind,
    medium: medium.trim().toLowerCase(),
    campaign: orEmpty(tags.utm_campaign).toLowerCase(),
  });
  return { channel, trafficSource: name };
}

/** A tag that consists only of white space (`?utm_source=%20`) says nothing about the visit. The column of the tag keeps it as sent. */
function orEmpty(tag: string): string {
  return tag.trim() === '' ? '' : tag;
}

/** A tag such as `?ref=https://blog.example/post` names the site `blog.example`. The column `ref` keeps the tag as sent. */
function hostIfUrl(tag: string): string {
  if (!/^https?:\/\//i.test(tag) || !URL.canParse(tag)) return tag;
  return new URL(tag).hostname.replace(/^www\.|\.$/g, '');
}

/**
 * Facebook and Instagram also add click IDs to links that are not paid. Such a click ID has no medium, because it does not show that the link was
 * paid. A known referrer says more, so it has priority.
 */
function clickSource(clickId: ClickId | undefined, referrer: Origin | undefined): string {
  if (clickId === undefined || (clickId.medium === '' && referrer?.source !== undefined)) return '';
  return clickId.source;
}

/** Values of `ref`, `source` and `via` that name the medium themselves: `?source=email`. */
const TAG_MEDIA: ReadonlySet<string> = new Set(['email', 'e-mail', 'e_mail', 'e mail', 'sms']);

/**
 * Returns the medium of a visit without `utm_medium`. Empty if the visit has a `utm_source`: GA4 then reports no medium. `source` is the source
 * that a tag names.
 */
function untaggedMedium(
  utmSource: string,
  linkTag: string,
  source: Source | undefined,
  referrer: Origin | undefined,
): string {
  if (utmSource !== '') return '';
  if (linkTag !== '') {
    const word = linkTag.trim().toLowerCase();
    return TAG_MEDIA.has(word) ? word : REFERRER_MEDIUM[source?.kind ?? 'other'];
  }
  return referrer === undefined ? '' : REFERRER_MEDIUM[referrer.source?.kind ?? 'other'];
}

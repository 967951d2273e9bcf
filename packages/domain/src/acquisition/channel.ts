import type { SourceKind } from './source.ts';

/** The default channel groups of Google Analytics 4 (support.google.com/analytics/answer/9756891), and AI Assistants. */
export type Channel =
  | 'Direct'
  | 'Cross-network'
  | 'Paid Shopping'
  | 'Paid Search'
  | 'Paid Social'
  | 'Paid Video'
  | 'Display'
  | 'Paid Other'
  | 'AI Assistants'
  | 'Organic Shopping'
  | 'Organic Social'
  | 'Organic Video'
  | 'Organic Search'
  | 'Referral'
  | 'Email'
  | 'Affiliates'
  | 'Audio'
  | 'SMS'
  | 'Mobile Push Notifications'
  | 'Unassigned';

/** What is known about the origin of a visit. Texts are in lower case, and empty if unknown. */
export interface Traffic {
  readonly source: string;
  readonly kind: SourceKind | undefined;
  readonly medium: string;
  readonly campaign: string;
}

const PAID = /^(?:.*cp.*|ppc|retargeting|paid.*)$/;
const SHOPPING_CAMPAIGN = /^(?:.*(?:(?:[^a-df-z]|^)shop|shopping).*)$/;
const DISPLAY = new Set(['display', 'banner', 'expandable', 'interstitial', 'cpm']);
const SOCIAL = new Set(['social', 'social-network', 'social-media', 'sm', 'social network', 'social media']);
const EMAIL = new Set(['email', 'e-mail', 'e_mail', 'e mail']);
const REFERRAL = new Set(['referral', 'app', 'link']);

const isPaid = (visit: Traffic): boolean => PAID.test(visit.medium);
const isShopping = (visit: Traffic): boolean => visit.kind === 'shopping' || SHOPPING_CAMPAIGN.test(visit.campaign);

/** GA4: `Source exactly matches "(direct)" AND Medium is one of ("(not set)", "(none)")`. In Weir, unknown texts are empty. */
function isDirect({ source, medium, campaign }: Traffic): boolean {
  if (source === '(direct)') return medium === '' || medium === '(not set)' || medium === '(none)';
  return source === '' && medium === '' && campaign === '';
}

/** The rules in the order of GA4, with AI Assistants before the organic groups. The first rule that is true decides. */
const RULES: readonly (readonly [Channel, (visit: Traffic) => boolean])[] = [
  ['Direct', isDirect],
  ['Cross-network', (visit) => visit.campaign.includes('cross-network')],
  ['Paid Shopping', (visit) => isPaid(visit) && isShopping(visit)],
  ['Paid Search', (visit) => isPaid(visit) && visit.kind === 'search'],
  ['Paid Social', (visit) => isPaid(visit) && visit.kind === 'social'],
  ['Paid Video', (visit) => isPaid(visit) && visit.kind === 'video'],
  ['Display', (visit) => DISPLAY.has(visit.medium)],
  ['Paid Other', isPaid],
  ['AI Assistants', (visit) => visit.kind === 'ai'],
  ['Organic Shopping', isShopping],
  ['Organic Social', (visit) => visit.kind === 'social' || SOCIAL.has(visit.medium)],
  ['Organic Video', (visit) => visit.kind === 'video' || visit.medium.includes('video')],
  ['Organic Search', (visit) => visit.kind === 'search' || visit.medium === 'organic'],
  ['Referral', (visit) => REFERRAL.has(visit.medium)],
  ['Email', (visit) => visit.kind === 'email' || EMAIL.has(visit.source) || EMAIL.has(visit.medium)],
  ['Affiliates', (visit) => visit.medium === 'affiliate'],
  ['Audio', (visit) => visit.medium === 'audio'],
  ['SMS', (visit) => visit.source === 'sms' || visit.medium === 'sms'],
  [
    'Mobile Push Notifications',
    (visit) =>
      visit.medium.endsWith('push') ||
      visit.medium.includes('mobile') ||
      visit.medium.includes('notification') ||
      visit.source === 'firebase',
  ],
];

export function channelOf(visit: Traffic): Channel {
  for (const [channel, holds] of RULES) if (holds(visit)) return channel;
  return 'Unassigned';
}

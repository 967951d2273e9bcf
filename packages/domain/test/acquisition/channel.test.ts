import { type Channel, channelOf, type Traffic } from '../../src/acquisition/channel.ts';

interface Rule {
  readonly channel: Channel;
  /** The rule in the words of support.google.com/analytics/answer/9756891, "Default channel group", in the order of that page. */
  readonly quote: string;
  readonly holds: readonly Partial<Traffic>[];
  /** Visits that almost match the rule, with their channel. */
  readonly misses?: readonly (readonly [Partial<Traffic>, Channel])[];
}

const PAID = 'Medium matches regex ^(.*cp.*|ppc|retargeting|paid.*)$';
const SHOP = 'Campaign Name matches regex ^(.*(([^a-df-z]|^)shop|shopping).*)$';

const RULES: readonly Rule[] = [
  {
    channel: 'Direct',
    quote: 'Source exactly matches "(direct)" AND Medium is one of ("(not set)", "(none)")',
    holds: [{}, { source: '(direct)', medium: '(none)' }, { source: '(direct)', medium: '(not set)' }],
    misses: [
      [{ campaign: 'may' }, 'Unassigned'],
      [{ source: '(direct)', medium: 'email' }, 'Email'],
    ],
  },
  {
    channel: 'Cross-network',
    quote: 'Campaign Name contains "cross-network"',
    holds: [{ source: 'google', kind: 'search', medium: 'cpc', campaign: 'spring cross-network' }],
  },
  {
    channel: 'Paid Shopping',
    quote: `(Source matches a list of shopping sites OR ${SHOP}) AND ${PAID}`,
    holds: [
      { source: 'amazon', kind: 'shopping', medium: 'cpc' },
      { source: 'google', kind: 'search', medium: 'ppc', campaign: 'summer-shop' },
      { source: 'google', kind: 'search', medium: 'cpc', campaign: 'shopping_de' },
    ],
    misses: [[{ source: 'google', kind: 'search', medium: 'cpc', campaign: 'workshop' }, 'Paid Search']],
  },
  {
    channel: 'Paid Search',
    quote: `Source matches a list of search sites AND ${PAID}`,
    holds: [
      { source: 'google', kind: 'search', medium: 'cpc' },
      { source: 'bing', kind: 'search', medium: 'paid-search' },
      { source: 'google', kind: 'search', medium: 'cpm' },
    ],
    misses: [[{ source: 'google', kind: 'search', medium: 'prepaid' }, 'Organic Search']],
  },
  {
    channel: 'Paid Social',
    quote: `Source matches a list of social sites AND ${PAID}`,
    holds: [{ source: 'facebook', kind: 'social', medium: 'retargeting' }],
    misses: [[{ source: 'facebook', kind: 'social', medium: 'retargeting2' }, 'Organic Social']],
  },
  {
    channel: 'Paid Video',
    quote: `Source matches a list of video sites AND ${PAID}`,
    holds: [{ source: 'youtube', kind: 'video', medium: 'cpv-cpc' }],
    misses: [[{ source: 'youtube', kind: 'video', medium: 'cpv2' }, 'Paid Video']],
  },
  {
    channel: 'Display',
    quote: 'Medium is one of ("display", "banner", "expandable", "interstitial", "cpm")',
    holds: ['display', 'banner', 'expandable', 'interstitial', 'cpm'].map((medium) => ({ source: 'x', medium })),
  },
  {
    channel: 'Paid Other',
    quote: PAID,
    holds: ['cpc', 'ppc', 'paid', 'paid_inclusion', 'retargeting', 'xcpx'].map((medium) => ({ source: 'x', medium })),
    misses: [[{ source: 'x', medium: 'unpaid' }, 'Unassigned']],
  },
  {
    channel: 'AI Assistants',
    quote: '"GA4\'s channel order plus AI Assistants"',
    holds: [
      { source: 'chatgpt.com', kind: 'ai', medium: 'referral' },
      { source: 'chatgpt.com', kind: 'ai', medium: '' },
    ],
    misses: [[{ source: 'chatgpt', kind: 'ai', medium: 'cpc' }, 'Paid Other']],
  },
  {
    channel: 'Organic Shopping',
    quote: `Source matches a list of shopping sites OR ${SHOP}`,
    holds: [
      { source: 'amazon.com', kind: 'shopping', medium: 'referral' },
      { source: 'a', medium: 'email', campaign: 'eshop' },
      { source: 'a', medium: 'email', campaign: 'my-shop' },
    ],
    misses: [[{ source: 'a', medium: 'email', campaign: 'workshop' }, 'Email']],
  },
  {
    channel: 'Organic Social',
    quote:
      'Source matches a regex list of social sites OR Medium is one of ("social", "social-network", "social-media", "sm", "social network", "social media")',
    holds: [
      { source: 'reddit.com', kind: 'social', medium: 'referral' },
      ...['social', 'social-network', 'social-media', 'sm', 'social network', 'social media'].map((medium) => ({
        source: 'forum',
        medium,
      })),
    ],
    misses: [[{ source: 'forum', medium: 'socials' }, 'Unassigned']],
  },
  {
    channel: 'Organic Video',
    quote: 'Source matches a list of video sites OR Medium matches regex ^(.*video.*)$',
    holds: [
      { source: 'youtube.com', kind: 'video', medium: 'referral' },
      { source: 'x', medium: 'a-video-spot' },
    ],
  },
  {
    channel: 'Organic Search',
    quote: 'Source matches a list of search sites OR Medium exactly matches organic',
    holds: [
      { source: 'google.com', kind: 'search', medium: 'organic' },
      { source: 'google', kind: 'search', medium: '' },
      { source: 'unknown', medium: 'organic' },
    ],
    misses: [[{ source: 'unknown', medium: 'organics' }, 'Unassigned']],
  },
  {
    channel: 'Referral',
    quote: 'Medium is one of ("referral", "app", or "link")',
    holds: ['referral', 'app', 'link'].map((medium) => ({ source: 'blog.example', medium })),
  },
  {
    channel: 'Email',
    quote: 'Source = email|e-mail|e_mail|e mail OR Medium = email|e-mail|e_mail|e mail',
    holds: ['email', 'e-mail', 'e_mail', 'e mail'].flatMap((word) => [
      { source: word, medium: '' },
      { source: 'newsletter', medium: word },
    ]),
    misses: [[{ source: 'newsletter', medium: 'emails' }, 'Unassigned']],
  },
  {
    channel: 'Email',
    quote: '"a webmail referrer is Email"',
    holds: [{ source: 'mail.google.com', kind: 'email', medium: 'email' }],
  },
  {
    channel: 'Affiliates',
    quote: 'Medium = affiliate',
    holds: [{ source: 'partner', medium: 'affiliate' }],
    misses: [[{ source: 'partner', medium: 'affiliates' }, 'Unassigned']],
  },
  { channel: 'Audio', quote: 'Medium exactly matches audio', holds: [{ source: 'podcast', medium: 'audio' }] },
  {
    channel: 'SMS',
    quote: 'Source exactly matches sms OR Medium exactly matches sms',
    holds: [
      { source: 'sms', medium: 'x' },
      { source: 'x', medium: 'sms' },
    ],
  },
  {
    channel: 'Mobile Push Notifications',
    quote: 'Medium ends with "push" OR Medium contains "mobile" or "notification" OR Source exactly matches "firebase"',
    holds: [
      { source: 'app1', medium: 'webpush' },
      { source: 'app1', medium: 'in-mobile-app' },
      { source: 'app1', medium: 'notifications' },
      { source: 'firebase', medium: 'x' },
    ],
    misses: [[{ source: 'app1', medium: 'pushed' }, 'Unassigned']],
  },
  {
    channel: 'Unassigned',
    quote: 'Unassigned is the value Analytics uses when there are no other channel rules that match the event data',
    holds: [{ source: 'newsletter', medium: 'banana' }],
  },
];

const channel = (visit: Partial<Traffic>) =>
  channelOf({ source: '', kind: undefined, medium: '', campaign: '', ...visit });

describe.each(RULES)('$channel: $quote', ({ channel: expected, holds, misses = [] }) => {
  test.each(holds)('holds: %j', (visit) => {
    expect(channel(visit)).toBe(expected);
  });
  if (misses.length > 0) {
    test.each(misses)('near miss: %j is %s', (visit, other) => {
      expect(channel(visit)).toBe(other);
    });
  }
});

test("the first rule that holds decides, in GA4's order", () => {
  const all = { source: 'email', kind: 'search', medium: 'cpc', campaign: 'cross-network shopping' } as const;
  expect(channel(all)).toBe('Cross-network');
  expect(channel({ ...all, campaign: 'shopping' })).toBe('Paid Shopping');
  expect(channel({ ...all, campaign: '' })).toBe('Paid Search');
  expect(channel({ ...all, campaign: '', medium: 'display' })).toBe('Display');
  expect(channel({ ...all, campaign: '', medium: 'social' })).toBe('Organic Social');
  expect(channel({ ...all, campaign: '', medium: 'video' })).toBe('Organic Video');
  expect(channel({ ...all, campaign: '', medium: 'referral' })).toBe('Organic Search');
  expect(channel({ ...all, kind: undefined, campaign: '', medium: 'link' })).toBe('Referral');
  expect(channel({ ...all, kind: undefined, campaign: '', medium: 'sms' })).toBe('Email');
});

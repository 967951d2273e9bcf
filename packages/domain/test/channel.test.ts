import { type Channel, channelOf, type Traffic } from '../src/channel.ts';

/** GA4, default channel group (support.google.com/analytics/answer/9756891): a visit for each rule. */
const CASES: readonly (readonly [Channel, Partial<Traffic>])[] = [
  ['Direct', {}],
  ['Cross-network', { source: 'google', medium: 'cpc', kind: 'search', campaign: 'spring cross-network' }],
  ['Paid Shopping', { source: 'amazon', kind: 'shopping', medium: 'cpc' }],
  ['Paid Shopping', { source: 'google', kind: 'search', medium: 'ppc', campaign: 'summer-shop' }],
  ['Paid Search', { source: 'google', kind: 'search', medium: 'cpc' }],
  ['Paid Search', { source: 'bing', kind: 'search', medium: 'paid-search' }],
  ['Paid Social', { source: 'facebook', kind: 'social', medium: 'retargeting' }],
  ['Paid Video', { source: 'youtube', kind: 'video', medium: 'cpm-cpc' }],
  ['Display', { source: 'x', medium: 'banner' }],
  ['Paid Other', { source: 'somewhere', medium: 'cpc' }],
  ['AI Assistants', { source: 'chatgpt.com', kind: 'ai', medium: 'referral' }],
  ['Organic Shopping', { source: 'amazon.com', kind: 'shopping', medium: 'referral' }],
  ['Organic Social', { source: 'reddit.com', kind: 'social', medium: 'referral' }],
  ['Organic Social', { source: 'forum', medium: 'social-media' }],
  ['Organic Video', { source: 'youtube.com', kind: 'video', medium: 'referral' }],
  ['Organic Video', { source: 'x', medium: 'video-spot' }],
  ['Organic Search', { source: 'google.com', kind: 'search', medium: 'organic' }],
  ['Organic Search', { source: 'unknown', medium: 'organic' }],
  ['Referral', { source: 'blog.example', medium: 'referral' }],
  ['Email', { source: 'newsletter', medium: 'e-mail' }],
  ['Email', { source: 'email', medium: '' }],
  ['Affiliates', { source: 'partner', medium: 'affiliate' }],
  ['Audio', { source: 'podcast', medium: 'audio' }],
  ['SMS', { source: 'sms', medium: 'x' }],
  ['Mobile Push Notifications', { source: 'app1', medium: 'webpush' }],
  ['Mobile Push Notifications', { source: 'firebase', medium: 'x' }],
  ['Unassigned', { source: 'newsletter', medium: 'banana' }],
];

test.each(CASES)('%s: %j', (channel, visit) => {
  expect(channelOf({ source: '', kind: undefined, medium: '', campaign: '', ...visit })).toBe(channel);
});

test('a campaign of a shop, by GA4\'s expression: an "eshop" is one, a "workshop" is none', () => {
  const visit = { source: 'a', kind: undefined, medium: 'email' };
  expect(channelOf({ ...visit, campaign: 'eshop' })).toBe('Organic Shopping');
  expect(channelOf({ ...visit, campaign: 'workshop' })).toBe('Email');
});

import { attributionOf as of } from './attribution-of.ts';

const PAGE = 'https://example.com/';

describe('tags that name paid traffic (lists/paid-tags.json)', () => {
  test.each([
    ['?utm_source=facebook-ads', 'Paid Social', 'Facebook'],
    ['?utm_source=fb-ads', 'Paid Social', 'Facebook'],
    ['?utm_source=fbad', 'Paid Social', 'Facebook'],
    ['?utm_source=FB_Ads', 'Paid Social', 'Facebook'],
    ['?utm_source=facebook%20ads', 'Paid Social', 'Facebook'],
    ['?utm_source=meta.ads', 'Paid Social', 'Facebook'],
    ['?utm_source=Facebook_Mobile_Feed', 'Paid Social', 'Facebook'],
    ['?utm_source=google_ads', 'Paid Search', 'Google'],
    ['?utm_source=Google-ads', 'Paid Search', 'Google'],
    ['?utm_source=adwords', 'Paid Search', 'Google'],
    ['?utm_source=google-cpc', 'Paid Search', 'Google'],
    ['?utm_source=gdn', 'Display', 'Google'],
    ['?utm_source=yt-ads', 'Paid Video', 'YouTube'],
    ['?utm_source=Reddit-ads', 'Paid Social', 'Reddit'],
    ['?utm_source=twitter-ads', 'Paid Social', 'X'],
    ['?utm_source=bing-ads', 'Paid Search', 'Bing'],
    ['?utm_source=microsoft-ads', 'Paid Search', 'Bing'],
    ['?utm_source=Microsoft%20Advertising', 'Paid Search', 'Bing'],
    ['?utm_source=tiktok-ads', 'Paid Social', 'TikTok'],
    ['?utm_source=tiktok+ad', 'Paid Social', 'TikTok'],
    ['?utm_source=linkedin_ads', 'Paid Social', 'LinkedIn'],
    ['?utm_source=ig_ads', 'Paid Social', 'Instagram'],
    ['?utm_source=pinterest.ads', 'Paid Social', 'Pinterest'],
    ['?utm_source=snap-ads', 'Paid Social', 'Snapchat'],
    ['?utm_source=quora-ads', 'Paid Social', 'Quora'],
    ['?utm_source=amazon-ads', 'Paid Shopping', 'Amazon'],
    ['?utm_source=taboola', 'Paid Other', 'Taboola'],
    ['?utm_source=Outbrain', 'Paid Other', 'Outbrain'],
    ['?utm_source=criteo', 'Display', 'Criteo'],
    ['?utm_source=threads-ads', 'Paid Social', 'Threads'],
    ['?utm_source=paid-facebook', 'Paid Social', 'Facebook'],
    ['?ref=facebook-ads', 'Paid Social', 'Facebook'],
    ['?utm_source=facebook-ads&fbclid=x', 'Paid Social', 'Facebook'],
  ])('%s without a medium is paid: %s, %s', (query, channel, source) => {
    expect(of(`${PAGE}${query}`, 'https://www.google.com/')).toEqual([channel, source]);
  });

  test('the medium in a link wins over the implied one', () => {
    expect(of(`${PAGE}?utm_source=facebook-ads&utm_medium=social`, '')).toEqual(['Organic Social', 'Facebook']);
    expect(of(`${PAGE}?utm_source=fbad&utm_medium=referral`, '')).toEqual(['Organic Social', 'Facebook']);
  });

  test.each([
    ['threads', 'Organic Social', 'Threads'],
    ['broadsheet-leads', 'Unassigned', 'broadsheet-leads'],
    ['roads', 'Unassigned', 'roads'],
    ['goodreads', 'Organic Social', 'Goodreads'],
    ['google-groups', 'Unassigned', 'google-groups'],
    ['my-facebook-ads-course', 'Unassigned', 'my-facebook-ads-course'],
    ['facebook', 'Organic Social', 'Facebook'],
    ['google', 'Organic Search', 'Google'],
  ])('utm_source=%s is not paid', (tag, channel, source) => {
    expect(of(`${PAGE}?utm_source=${tag}`, '')).toEqual([channel, source]);
  });
});

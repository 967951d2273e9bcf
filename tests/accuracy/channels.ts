import { createSources } from '@weir/domain/acquisition/source';
import { attribute } from '@weir/enricher/acquisition/classify-traffic';
import { publicSuffixOf } from '@weir/enricher/acquisition/host-domain';
import { createPageUrls } from '@weir/enricher/acquisition/page-url';
import { createReferrers } from '@weir/enricher/acquisition/referrer';
import { loadSourceLists } from '@weir/enricher/acquisition/source-lists';
import { type Section, table } from './section.ts';

interface Rule {
  readonly channel: string;
  /** The text of the rule in GA4's documentation, partly shortened. Some rules have several entries, one for each alternative. */
  readonly rule: string;
  readonly query: string;
  readonly referrer?: string;
}

/** The rules of GA4's default channel group, in its order, and Weir's own rules ("not GA4's"), each with a visit to which it applies. */
const RULES: readonly Rule[] = [
  {
    channel: 'Direct',
    rule: 'Source exactly matches "(direct)" AND Medium is one of ("(not set)", "(none)")',
    query: '',
  },
  {
    channel: 'Cross-network',
    rule: 'Campaign Name contains "cross-network"',
    query: 'utm_source=google&utm_medium=cpc&utm_campaign=pmax-cross-network',
  },
  {
    channel: 'Paid Shopping',
    rule: 'Source matches a list of shopping sites AND Medium matches regex ^(.*cp.*|ppc|retargeting|paid.*)$',
    query: 'utm_source=amazon&utm_medium=cpc',
  },
  {
    channel: 'Paid Shopping',
    rule: 'Campaign Name matches regex ^(.*(([^a-df-z]|^)shop|shopping).*)$ AND Medium matches the same regex',
    query: 'utm_source=google&utm_medium=cpc&utm_campaign=eshop',
  },
  { channel: 'Paid Search', rule: 'Source matches a list of search sites AND Medium as above', query: 'gclid=x' },
  {
    channel: 'Paid Social',
    rule: 'Source matches a list of social sites AND Medium as above',
    query: 'utm_source=facebook&utm_medium=paid_social',
  },
  {
    channel: 'Paid Video',
    rule: 'Source matches a list of video sites AND Medium as above',
    query: 'utm_source=youtube&utm_medium=cpv-cpc',
  },
  {
    channel: 'Display',
    rule: 'Medium is one of ("display", "banner", "expandable", "interstitial", "cpm")',
    query: 'utm_source=site&utm_medium=interstitial',
  },
  { channel: 'Paid Other', rule: 'Medium as above', query: 'utm_source=site&utm_medium=cpc' },
  {
    channel: 'AI Assistants',
    rule: "(not GA4's) Source is an AI assistant",
    query: '',
    referrer: 'https://chatgpt.com/',
  },
  {
    channel: 'Organic Shopping',
    rule: 'Source matches a list of shopping sites OR Campaign name as above',
    query: '',
    referrer: 'https://www.amazon.co.uk/dp/1',
  },
  {
    channel: 'Organic Social',
    rule: 'Source matches a regex list of social sites',
    query: '',
    referrer: 'https://l.facebook.com/',
  },
  {
    channel: 'Organic Social',
    rule: 'OR Medium is one of ("social", "social-network", "social-media", "sm", "social network", "social media")',
    query: 'utm_source=forum&utm_medium=social%20media',
  },
  {
    channel: 'Organic Video',
    rule: 'Source matches a list of video sites',
    query: '',
    referrer: 'https://www.youtube.com/watch?v=1',
  },
  {
    channel: 'Organic Video',
    rule: 'OR Medium matches regex ^(.*video.*)$',
    query: 'utm_source=site&utm_medium=video-spot',
  },
  {
    channel: 'Organic Search',
    rule: 'Source matches a list of search sites',
    query: '',
    referrer: 'https://www.google.com.br/',
  },
  {
    channel: 'Organic Search',
    rule: 'OR Medium exactly matches organic',
    query: 'utm_source=site&utm_medium=organic',
  },
  {
    channel: 'Referral',
    rule: 'Medium is one of ("referral", "app", or "link")',
    query: '',
    referrer: 'https://blog.example.org/post',
  },
  {
    channel: 'Email',
    rule: 'Source = email|e-mail|e_mail|e mail',
    query: 'utm_source=e-mail',
  },
  {
    channel: 'Email',
    rule: 'OR Medium = email|e-mail|e_mail|e mail',
    query: 'utm_source=news&utm_medium=e_mail',
  },
  { channel: 'Email', rule: "(not GA4's) Source is a mail service", query: '', referrer: 'https://mail.google.com/' },
  {
    channel: 'Paid Social',
    rule: "(not GA4's) Source names paid traffic and there is no medium",
    query: 'utm_source=facebook-ads',
  },
  {
    channel: 'Paid Search',
    rule: "(not GA4's) Source names paid traffic and there is no medium",
    query: 'utm_source=adwords',
  },
  { channel: 'Affiliates', rule: 'Medium = affiliate', query: 'utm_source=partner&utm_medium=affiliate' },
  { channel: 'Audio', rule: 'Medium exactly matches audio', query: 'utm_source=podcast&utm_medium=audio' },
  { channel: 'SMS', rule: 'Source exactly matches sms', query: 'utm_source=sms' },
  { channel: 'SMS', rule: 'OR Medium exactly matches sms', query: 'utm_source=site&utm_medium=sms' },
  {
    channel: 'Mobile Push Notifications',
    rule: 'Medium ends with "push"',
    query: 'utm_source=app&utm_medium=webpush',
  },
  {
    channel: 'Mobile Push Notifications',
    rule: 'OR Medium contains "mobile" or "notification"',
    query: 'utm_source=app&utm_medium=in-app-notification',
  },
  {
    channel: 'Mobile Push Notifications',
    rule: 'OR Source exactly matches "firebase"',
    query: 'utm_source=firebase&utm_medium=x',
  },
  { channel: 'Unassigned', rule: 'no other rule matches', query: 'utm_source=news&utm_medium=banana' },
];

/** Checks the channel of one visit for each entry of `RULES`. */
export function channels(): Section {
  const lists = createSources(loadSourceLists(), publicSuffixOf);
  const pageUrl = createPageUrls();
  const referrerOf = createReferrers(lists);
  const told = RULES.map(({ query, referrer = '' }) => {
    const { tags, clickId } = pageUrl(`https://example.com/?${query}`);
    const from = referrerOf(referrer);
    return attribute({ tags, clickId, referrer: from.hostname === '' ? undefined : from }, lists).channel;
  });
  const right = RULES.filter(({ channel }, i) => told[i] === channel);
  const rows = RULES.map(({ channel, rule, query, referrer = '' }, i) => [
    channel,
    rule,
    query === '' ? referrer || 'no query, no referrer' : `?${query}`,
    told[i] === channel ? 'yes' : `no: ${told[i]}`,
  ]);
  return {
    title: 'Channels',
    markdown: [
      "The rules and their order are those of Google's page on the default channel group (support.google.com/analytics/answer/9756891).",
      'GA4 also uses the network and the campaign type of a Google Ads account. Weir uses the click ID instead: a visit with a gclid',
      'has the source google and the medium cpc.',
      '',
      table(['channel', "GA4's rule", 'visit', 'right'], rows),
    ].join('\n'),
    targets: [
      {
        name: "GA4's channel rules, a visit for each",
        reached: right.length / RULES.length,
        wanted: { atLeast: 1 },
        cases: RULES.length,
      },
    ],
  };
}

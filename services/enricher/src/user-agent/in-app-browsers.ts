/**
 * Apps and browsers that ua-parser-js does not recognise, or reports less exactly. The apps show pages in their own web view, and their user agent
 * contains their name. The first match wins. The first group that matches captures the version of the app; `(?:…|$)` allows user agents
 * without a version.
 */
const APPS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Threads', /\bMetaIAB Threads\b|\bBarcelona (\d+(?:\.\d+)*)/],
  ['Messenger', /\b(?:FBAN\/Messenger|FB_IAB\/(?:Orca|MESSENGER)|MetaIAB Messenger\b).*?(?:FBAV\/(\d+(?:\.\d+)*)|$)/],
  ['Facebook', /\b(?:FBAN\/|FB_IAB\/|MetaIAB Facebook\b).*?(?:FBAV\/(\d+(?:\.\d+)*)|$)/],
  ['Instagram', /\bMetaIAB Instagram\b|\bInstagram (\d+(?:\.\d+)*)/],
  // On Android, the number after the name is the number of the build, and `app_version` follows later.
  [
    'TikTok',
    /\b(?:musical_ly|musically_go|trill|TikTok)[_ /](?:(\d+(?:\.\d+)+)|\d.*?\bapp_version\/(\d+(?:\.\d+)+)|\d|$)/,
  ],
  ['Douyin', /\baweme[_ /](?:(\d+(?:\.\d+)+)|\d|$)/],
  ['LinkedIn', /\bLinkedInApp\]?(?:\/(\d+(?:\.\d+)*))?/],
  ['Snapchat', /Snapchat\/?(\d+(?:\.\d+)*)/],
  ['Pinterest', /\[Pinterest\/(?:iOS|Android)\]|\bPinterest for (?:iOS|Android)\/(\d+(?:\.\d+)*)/],
  ['X', /\bTwitter(?:(?: for iP[a-z]+)?\/(\d+(?:\.\d+)*)|Android)/],
  ['Reddit', /\bReddit\/(?:Version )?(\d+(?:\.\d+)*)/],
  ['LINE', /\bLine\/(\d+(?:\.\d+)*)/],
  ['WeChat', /\bMicroMessenger\/(\d+(?:\.\d+)*)/],
  ['KakaoTalk', /\bKAKAOTALK[ /](\d+(?:\.\d+)*)/],
  ['NAVER', /\bNAVER\(inapp; search; \d+; (\d+(?:\.\d+)*)/],
  ['Telegram', /\bTelegram-Android\/(\d+(?:\.\d+)*)/],
  ['Alipay', /\bAlipayClient\/(\d+(?:\.\d+)*)/],
  ['Weibo', /__weibo__(\d+(?:\.\d+)*)/],
  ['Google App', /\b(?:GSA|GoogleApp)\/(\d+(?:\.\d+)*)/],
  ['Bing', /\bBingSapphire\/(\d+(?:\.\d+)*)/],
  ['QQ', /\bQQ\/(\d+(?:\.\d+)*)/],
  ['QQ Browser', /QQBrowser(?:Lite)?(?:\/(\d+(?:\.\d+)*))?/],
  ['UC Browser', /\bUCWEB\/?(\d+(?:\.\d+)*)/],
  ['Steam', /\bValve (?:Steam|UserAgent)/],
  ['Viber', /\bViber\/(\d+(?:\.\d+)*)/],
  ['Zalo', /\bZalo (?:iOS|android)\/(\d+(?:\.\d+)*)/],
  ['VK', /\bVKAndroidApp\/(\d+(?:\.\d+)*)/],
  ['Yahoo! Japan', /\bYJApp-\w+ [\w.]+\/(\d+(?:\.\d+)*)/],
  ['Phoenix Browser', /\bPHX\/(\d+(?:\.\d+)*)/],
  ['Ecosia', /\bEcosia (?:ios|android)@(\d+(?:\.\d+)*)/],
  ['Aloha Browser', /\bAlohaBrowser\/(\d+(?:\.\d+)*)/],
  ['CCleaner Browser', /\bCCleaner\/(\d+(?:\.\d+)*)/],
  ['Avira Secure Browser', /\bAvira\/(\d+(?:\.\d+)*)/],
  ['Norton Private Browser', /\bNorton\/(\d+(?:\.\d+)*)/],
];
/** A quick test that fails for most user agents, so that the patterns above need not run. */
const ANY_APP =
  /Barcelona|FBAN|FB_IAB|MetaIAB|Instagram|musical|trill|TikTok|aweme|LinkedInApp|Snapchat|Pinterest|Twitter|Reddit|Line\/|MicroMessenger|KAKAOTALK|NAVER|Telegram|AlipayClient|__weibo__|GSA\/|GoogleApp|BingSapphire|QQ|UCWEB|Valve|Viber|Zalo|VKAndroidApp|YJApp|PHX\/|Ecosia|AlohaBrowser|CCleaner|Avira|Norton/;

export interface AppBrowser {
  readonly name: string;
  /** Empty if the user agent has no version of the app. */
  readonly version: string;
}

export function inAppBrowser(userAgent: string): AppBrowser | undefined {
  if (!ANY_APP.test(userAgent)) return undefined;
  for (const [name, pattern] of APPS) {
    const found = pattern.exec(userAgent);
    if (found !== null) return { name, version: found[1] ?? found[2] ?? '' };
  }
  return undefined;
}

/**
 * Apps that show pages in their own web view and name themselves in the user agent, in cases that ua-parser-js misses or
 * reports less exactly. The first match wins. The group captures the version of the app; `(?:…|$)` allows user agents without a
 * version.
 */
const APPS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Threads', /\bMetaIAB Threads\b|\bBarcelona (\d+(?:\.\d+)*)/],
  ['Messenger', /\b(?:FBAN\/Messenger|FB_IAB\/(?:Orca|MESSENGER)|MetaIAB Messenger\b).*?(?:FBAV\/(\d+(?:\.\d+)*)|$)/],
  ['Facebook', /\b(?:FBAN\/|FB_IAB\/|MetaIAB Facebook\b).*?(?:FBAV\/(\d+(?:\.\d+)*)|$)/],
  ['Instagram', /\bMetaIAB Instagram\b|\bInstagram (\d+(?:\.\d+)*)/],
  ['TikTok', /\b(?:musical_ly|musically_go|trill|TikTok)[_ /](?:(\d+(?:\.\d+)+)|\d|$)/],
  ['Douyin', /\baweme[_ /](?:(\d+(?:\.\d+)+)|\d|$)/],
  ['LinkedIn', /\[LinkedInApp\](?:\/(\d+(?:\.\d+)*))?/],
  ['Snapchat', /Snapchat\/?(\d+(?:\.\d+)*)/],
  ['Pinterest', /\[Pinterest\/(?:iOS|Android)\]|\bPinterest for (?:iOS|Android)\/(\d+(?:\.\d+)*)/],
  ['X', /\bTwitter(?: for iP[a-z]+\/(\d+(?:\.\d+)*)|Android)/],
  ['Reddit', /\bReddit\/(?:Version )?(\d+(?:\.\d+)*)/],
  ['LINE', /\bLine\/(\d+(?:\.\d+)*)/],
  ['WeChat', /\bMicroMessenger\/(\d+(?:\.\d+)*)/],
  ['KakaoTalk', /\bKAKAOTALK[ /](\d+(?:\.\d+)*)/],
  ['NAVER', /\bNAVER\(inapp; search; \d+; (\d+(?:\.\d+)*)/],
  ['Telegram', /\bTelegram-Android\/(\d+(?:\.\d+)*)/],
  ['Alipay', /\bAlipayClient\/(\d+(?:\.\d+)*)/],
  ['Weibo', /__weibo__(\d+(?:\.\d+)*)/],
  ['Google App', /\bGSA\/(\d+(?:\.\d+)*)/],
  ['Bing', /\bBingSapphire\/(\d+(?:\.\d+)*)/],
  ['QQ', /\bQQ\/(\d+(?:\.\d+)*)/],
  ['QQ Browser', /QQBrowser(?:Lite)?(?:\/(\d+(?:\.\d+)*))?/],
  ['UC Browser', /\bUCWEB\/?(\d+(?:\.\d+)*)/],
  ['Steam', /\bValve (?:Steam|UserAgent)/],
];
/** A quick test that fails for most user agents, so that the patterns above need not run. */
const ANY_APP =
  /Barcelona|FBAN|FB_IAB|MetaIAB|Instagram|musical|trill|TikTok|aweme|LinkedInApp|Snapchat|Pinterest|Twitter|Reddit|Line\/|MicroMessenger|KAKAOTALK|NAVER|Telegram|AlipayClient|__weibo__|GSA\/|BingSapphire|QQ|UCWEB|Valve/;

export interface AppBrowser {
  readonly name: string;
  /** Empty if the user agent has no version of the app. */
  readonly version: string;
}

export function inAppBrowser(userAgent: string): AppBrowser | undefined {
  if (!ANY_APP.test(userAgent)) return undefined;
  for (const [name, pattern] of APPS) {
    const found = pattern.exec(userAgent);
    if (found !== null) return { name, version: found[1] ?? '' };
  }
  return undefined;
}

/**
 * Apps that show pages in a web view of their own and say so in the user agent, where ua-parser-js doesn't see it or is
 * less exact. The first that matches; a group captures the app's version. `(?:…|$)` stands where some leave it out.
 */
const APPS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['Threads', /\bBarcelona (\d+(?:\.\d+)*)/],
  ['Messenger', /\b(?:FBAN\/Messenger|FB_IAB\/(?:Orca|MESSENGER)).*?(?:FBAV\/(\d+(?:\.\d+)*)|$)/],
  ['Facebook', /\b(?:FBAN|FB_IAB)\/.*?(?:FBAV\/(\d+(?:\.\d+)*)|$)/],
  ['Instagram', /\bInstagram (\d+(?:\.\d+)*)/],
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
/** One look that most user agents end with. */
const ANY_APP =
  /Barcelona|FBAN|FB_IAB|Instagram|musical|trill|TikTok|aweme|LinkedInApp|Snapchat|Pinterest|Twitter|Reddit|Line\/|MicroMessenger|KAKAOTALK|NAVER|Telegram|AlipayClient|__weibo__|GSA\/|BingSapphire|QQ|UCWEB|Valve/;

export interface AppBrowser {
  readonly name: string;
  /** Empty where it isn't said. */
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

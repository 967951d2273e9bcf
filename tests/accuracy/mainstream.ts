/**
 * The labels that count as mainstream. Only the label in the set decides, before anything is parsed; the age of the user agent
 * and the result do not matter. Cases with other labels are not part of the targets, and are counted separately.
 */
export const MAINSTREAM = {
  browser: new Set(
    'Chrome,Safari,Edge,Firefox,Samsung Internet,Opera,Opera Mini,Internet Explorer,Android Browser,Android WebView,a web view,UC Browser,Yandex Browser,QQ Browser,Brave,Vivaldi,DuckDuckGo,Whale,Amazon Silk,Mi Browser,Huawei Browser,Google App,Facebook,Instagram,TikTok,WeChat,LINE,LinkedIn,Snapchat,Pinterest,KakaoTalk'.split(
      ',',
    ),
  ),
  os: new Set(
    'Windows,macOS,iOS,Android,Linux,Chrome OS,Windows Phone,Tizen,webOS,KaiOS,HarmonyOS,PlayStation,Xbox,Nintendo'.split(
      ',',
    ),
  ),
  device: new Set(['desktop', 'mobile', 'tablet', 'tv', 'console', 'wearable']),
} as const;

export type Kind = keyof typeof MAINSTREAM;

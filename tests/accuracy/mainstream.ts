/**
 * The labels that count as mainstream. A case is mainstream if its label in the data set is in this list. The age of the user agent and Weir's
 * result do not matter. All other cases are counted separately, without a target.
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

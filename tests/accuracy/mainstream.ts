/**
 * What counts as mainstream is decided by the label that the set itself gives, before anything is parsed, and by nothing
 * else: neither the agent's age nor how it turned out. These names; every other label is left out and counted.
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

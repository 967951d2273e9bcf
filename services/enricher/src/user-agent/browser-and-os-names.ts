/** Common names for the names that ua-parser-js returns. */
const BROWSERS: Readonly<Record<string, string>> = {
  'Mobile Safari': 'Safari',
  'Mobile Chrome': 'Chrome',
  'Mobile Firefox': 'Firefox',
  'Chrome Mobile': 'Chrome',
  'Chrome WebView': 'Android WebView',
  'Chrome Headless': 'Chrome',
  'Mobile Chromium': 'Chromium',
  chrome: 'Chrome',
  IE: 'Internet Explorer',
  IEMobile: 'Internet Explorer',
  'Samsung Browser': 'Samsung Internet',
  'Opera Mobi': 'Opera',
  'Opera Tablet': 'Opera',
  'Opera Touch': 'Opera',
  GSA: 'Google App',
  UCBrowser: 'UC Browser',
  QQBrowser: 'QQ Browser',
  QQBrowserLite: 'QQ Browser',
  'MIUI Browser': 'Mi Browser',
  MAXTHON: 'Maxthon',
  PaleMoon: 'Pale Moon',
  conkeror: 'Conkeror',
  rekonq: 'Rekonq',
  Silk: 'Amazon Silk',
  Yandex: 'Yandex Browser',
  Line: 'LINE',
  KAKAOTALK: 'KakaoTalk',
  Twitter: 'X',
  baidu: 'Baidu',
};

const SYSTEMS: Readonly<Record<string, string>> = {
  'Mac OS': 'macOS',
  'Mac OS X': 'macOS',
  'Chromium OS': 'Chrome OS',
  'Windows Mobile': 'Windows Phone',
  'Windows Phone OS': 'Windows Phone',
  PLAYSTATION: 'PlayStation',
  'Android-x86': 'Android',
  'Fire OS': 'Android',
  KAIOS: 'KaiOS',
  OpenHarmony: 'HarmonyOS',
  GNU: 'Linux',
};

/** Matches the names of Linux distributions and a few similar systems. All of them are stored as "Linux". */
const LINUX =
  /^(?:ubuntu|debian|fedora|centos|red ?hat|suse|opensuse|gentoo|arch|slackware|mandriva|mageia|mint|linspire|pclinuxos|zenwalk|sabayon|raspbian|elementary os|manjaro|vectorlinux|deepin|unix|joli|linpus|pcbsd|rhel)$/i;

/** The name for iOS web views. Their user agent names only the engine, WebKit. */
const IOS_WEB_VIEW = 'Safari (in-app)';

export function browserName(name: string | undefined, system: string): string {
  if (name === undefined) return '';
  return name === 'WebKit' && system === 'iOS' ? IOS_WEB_VIEW : (BROWSERS[name] ?? name);
}

export function systemFamily(name: string | undefined): string {
  if (name === undefined) return '';
  return SYSTEMS[name] ?? (LINUX.test(name) ? 'Linux' : name);
}

const DESKTOP = new Set(['Windows', 'macOS', 'Linux', 'Chrome OS', 'FreeBSD', 'OpenBSD', 'NetBSD', 'Solaris']);

/** The values of the column device_type (docs/tables.md). ua-parser-js returns no type for a desktop computer. */
export function deviceType(type: string | undefined, system: string): string {
  if (type === 'smarttv') return 'tv';
  if (type === 'mobile' || type === 'tablet' || type === 'console' || type === 'wearable') return type;
  if (type === undefined && DESKTOP.has(system)) return 'desktop';
  return type === undefined && (system === 'Android' || system === 'iOS') ? 'mobile' : '';
}

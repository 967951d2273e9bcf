import { deviceType } from './browser-and-os-names.ts';
import type { ClientHints, UserAgent } from './user-agent.ts';

/** Common names for the brands in `Sec-CH-UA`. */
const BRANDS: ReadonlyMap<string, string> = new Map([
  ['Google Chrome', 'Chrome'],
  ['Microsoft Edge', 'Edge'],
  ['OperaMobile', 'Opera'],
  ['AvastSecureBrowser', 'Avast Secure Browser'],
  ['YaBrowser', 'Yandex Browser'],
  ['Yandex', 'Yandex Browser'],
]);
/**
 * Matches Chromium itself, the random brand that browsers add so that no site relies on a fixed list, for example `Not/A)Brand`, and the brand
 * of WebView2. An app that shows pages with WebView2 sends this brand beside `Microsoft Edge` or the brand of the app.
 */
const NO_BRAND = /^(?:Chromium|Microsoft Edge WebView2)$|not.{0,3}a.{0,3}brand/i;
/** Opera on Android also sends the brand `Opera`, with the version of Opera on desktop computers. Weir then ignores `Opera`. */
const OPERA_ON_ANDROID = '"OperaMobile"';
const BRAND = /"((?:[^"\\]|\\.){1,40})";\s*v="([^"]{0,40})"/g;
/**
 * Weir replaces these browser names by the brand in the Client Hints, because the user agents of other browsers contain them too. It
 * keeps every other name: if an app shows the page, for example, the name of the app says more than the brand of its browser.
 */
const HIDES_BRAND: ReadonlySet<string> = new Set(['Chrome', 'Opera', 'Edge', 'Chromium', '']);

const PLATFORMS: ReadonlyMap<string, string> = new Map([
  ['Windows', 'Windows'],
  ['macOS', 'macOS'],
  ['Android', 'Android'],
  ['Chrome OS', 'Chrome OS'],
  ['Chromium OS', 'Chrome OS'],
  ['ChromeOS', 'Chrome OS'],
]);
/** If the hint for the platform was sent, it replaces these operating systems of a user agent. All others, for example webOS, are kept. */
const PRETENDED: ReadonlySet<string> = new Set(['', 'Linux', 'Windows', 'macOS', 'Chrome OS']);

const WINDOWS_11_PLATFORM_VERSION = 13;
const OLD_WINDOWS: Readonly<Record<string, string>> = { '0.1': '7', '0.2': '8', '0.3': '8.1' };

/**
 * Replaces values of the user agent by those of the Client Hints. Client Hints are more reliable: they have the current versions, while many browsers
 * no longer change the versions in their user agents.
 */
export function withHints(agent: UserAgent, hints: ClientHints): UserAgent {
  const platform = PLATFORMS.get(unquoted(hints['sec-ch-ua-platform']));
  const os = platform !== undefined && PRETENDED.has(agent.os) ? platform : agent.os;
  const version = systemVersion(os, unquoted(hints['sec-ch-ua-platform-version']));
  const model = unquoted(hints['sec-ch-ua-model']);
  return {
    ...agent,
    ...brandOf(agent, hints),
    os,
    osVersion: version === '' && os === agent.os ? agent.osVersion : version,
    deviceType: typeOf(agent, os, hints),
    deviceModel: model === '' ? agent.deviceModel : model,
  };
}

function brandOf(agent: UserAgent, hints: ClientHints): Pick<UserAgent, 'browser' | 'browserVersion'> {
  const { browser, browserVersion } = agent;
  // Chromium sends an empty list if its user agent was changed with a command-line flag.
  const full = hints['sec-ch-ua-full-version-list'] || undefined;
  const list = full ?? hints['sec-ch-ua'] ?? '';
  for (const [, brand = '', version = ''] of list.matchAll(BRAND)) {
    if (NO_BRAND.test(brand) || (brand === 'Opera' && list.includes(OPERA_ON_ANDROID))) continue;
    const name = BRANDS.get(brand) ?? brand;
    if (name === browser) return { browser, browserVersion: full === undefined ? browserVersion : version };
    if (HIDES_BRAND.has(browser) && name !== 'Chrome') return { browser: name, browserVersion: version };
  }
  return { browser, browserVersion };
}

function systemVersion(os: string, platformVersion: string): string {
  if (platformVersion === '' || os === 'Linux') return '';
  if (os !== 'Windows') return platformVersion.replace(/(?:\.0)+$/, '');
  const major = Number.parseInt(platformVersion, 10);
  if (major >= WINDOWS_11_PLATFORM_VERSION) return '11';
  return major > 0 ? '10' : (OLD_WINDOWS[platformVersion.slice(0, 3)] ?? '');
}

function typeOf(agent: UserAgent, os: string, hints: ClientHints): string {
  const form = hints['sec-ch-ua-form-factors'] ?? '';
  if (form.includes('"Watch"') || form.includes('"XR"')) return 'wearable';
  if (form.includes('"Tablet"')) return 'tablet';
  const isOrdinary = agent.deviceType === '' || agent.deviceType === 'desktop';
  if (isOrdinary && hints['sec-ch-ua-mobile'] === '?1') return 'mobile';
  // A tablet that asks for desktop pages. Computers, cars and televisions with Android name their form or their model.
  const isUnnamed = form === '' && unquoted(hints['sec-ch-ua-model']) === '' && hints['sec-ch-ua-mobile'] === '?0';
  if (os === 'Android' && agent.deviceType === 'desktop' && isUnnamed) return 'tablet';
  return agent.deviceType === '' ? deviceType(undefined, os) : agent.deviceType;
}

export function unquoted(text: string | undefined): string {
  return text === undefined ? '' : text.replace(/^"|"$/g, '').slice(0, 64);
}

import { brandBefore, brandName, deviceBrand, soldAs, televisionBrand } from './device-brand.ts';
import { wholeModel } from './device-model.ts';
import type { UserAgent } from './user-agent.ts';

const TELEVISION =
  /\b(?:smart-?tv|hbbtv|web0s|webos\.tv|webostv|netcast|tizen[^)]*\btv|apple ?tv\d*|android ?tv|google ?tv|roku\w*|bravia|crkey|aft[a-z]{1,6}\d{0,2}|mitv|mibox|smartcast|viera|philipstv|nettv|vidaa|aquostv|freebox|opera tv|dtv|inettvbrowser|tv (?:safari|bro))\b|\bSHIELD Android|\bOMI\/\d|Safari\/[\d.]+ TV$/i;
/** Matches the models of televisions and set-top boxes whose user agent has no word of the pattern above. */
const TELEVISION_MODEL =
  /^(?:Chromecast|Nexus Player|TPM\d{3}E$|AQUOS[-_]TV|M[Ii] ?(?:TV|BOX|Box))|(?:^| |[a-z]{3})TV\b|(?:^|[-_])LED\d\d/;
/** Matches models whose names say that they are tablets: `moto tab g70`, `HUAWEI MatePad 11`, `vivo Pad2`. It excludes Coolpad, a maker of phones. */
const TABLET_MODEL = /\b(?:tab|(?!cool)\w*pad)\d{0,2}\b|^[A-Z]{3}\d?[KR]?-W\d|^i?PA2\d{3}/i;
/** No television runs these systems. They are tested first, because the pattern for televisions is the slowest pattern in this file. */
const NO_TELEVISION: ReadonlySet<string> = new Set(['Windows', 'iOS', 'Chrome OS']);
const SAYS_NOTHING = /^(?:K|wv|Mobile|Tablet|Build|Android)$/;

/** Corrects televisions, consoles, watches and headsets that ua-parser-js classifies wrongly or names incompletely. */
export function normalizeDevice(agent: UserAgent, userAgent: string): UserAgent {
  const named = { ...agent, ...brandAndModel(agent, userAgent) };
  if (userAgent.includes('Apple Watch')) {
    return { ...named, os: 'watchOS', deviceType: 'wearable', deviceBrand: 'Apple', deviceModel: 'Apple Watch' };
  }
  // The headsets of Meta and Pico run Android, but their user agent has Linux when they ask for desktop pages.
  if (agent.browser === 'Oculus Browser' || userAgent.includes(' VR Safari/'))
    return { ...named, os: 'Android', deviceType: 'wearable' };
  if (agent.os.startsWith('Windows') && /\b(?:Xbox|XBOX)(?:\b|_)/.test(userAgent)) {
    return { ...named, os: 'Xbox', osVersion: '', deviceType: 'console', deviceBrand: 'Microsoft' };
  }
  // Some user agents of the PlayStation have the word `SmartTV`.
  if (agent.os === 'PlayStation') {
    const deviceModel = /PlayStation \w+/i.exec(userAgent)?.[0] ?? named.deviceModel;
    return { ...named, deviceType: 'console', deviceBrand: 'Sony', deviceModel };
  }
  const mayBeTelevision = agent.deviceType !== 'console' && !NO_TELEVISION.has(agent.os);
  if (mayBeTelevision && TELEVISION.test(userAgent)) return television(named, userAgent);
  if (agent.os === 'Android') return { ...named, deviceType: androidType(named, userAgent) };
  if (agent.os === 'Nintendo' && agent.browser === 'WebKit') {
    const browserVersion = /\bNintendoBrowser\/([\d.]+)/.exec(userAgent)?.[1] ?? '';
    return { ...named, browser: 'Nintendo Browser', browserVersion };
  }
  return named;
}

function brandAndModel(agent: UserAgent, userAgent: string): Pick<UserAgent, 'deviceBrand' | 'deviceModel'> {
  const found = SAYS_NOTHING.test(agent.deviceModel) ? '' : agent.deviceModel.trim();
  const isAndroid = agent.os === 'Android';
  const { model, before } = isAndroid ? wholeModel(found, userAgent) : { model: found, before: '' };
  const brand = brandBefore(before) || brandName(agent.deviceBrand) || deviceBrand(model);
  // The model that ua-parser-js returns for an e-reader is the version of its browser.
  if (agent.deviceBrand === 'Kindle') return { deviceBrand: brand, deviceModel: 'Kindle' };
  return { deviceBrand: isAndroid ? soldAs(brand, model, agent.osVersion) : brand, deviceModel: model };
}

function androidType({ deviceType, deviceModel }: UserAgent, userAgent: string): string {
  if (TELEVISION_MODEL.test(deviceModel)) return 'tv';
  if (/watch\b/i.test(deviceModel)) return 'wearable';
  // If the model is unknown, only `Mobile` distinguishes phones from tablets. ua-parser-js expects `Safari` directly after it.
  if (deviceModel === '' && deviceType === 'tablet' && /\bMobile\b/.test(userAgent)) return 'mobile';
  const isTablet = deviceType === 'mobile' && TABLET_MODEL.test(deviceModel) && !/\bMobile\b/.test(userAgent);
  return isTablet ? 'tablet' : deviceType;
}

function television(agent: UserAgent, userAgent: string): UserAgent {
  const set = {
    ...agent,
    deviceType: 'tv',
    osVersion: /^\d/.test(agent.osVersion) ? agent.osVersion : '',
    deviceBrand: agent.deviceBrand || televisionBrand(userAgent),
  };
  if (/apple ?tv/i.test(userAgent)) {
    const osVersion = set.osVersion || (/\bOS (\d+(?:_\d+)*)/.exec(userAgent)?.[1]?.replaceAll('_', '.') ?? '');
    return { ...set, os: 'tvOS', osVersion, deviceBrand: 'Apple', deviceModel: 'Apple TV' };
  }
  if (/\broku/i.test(userAgent)) {
    const osVersion = set.osVersion || (/\bDVP-(\d+(?:\.\d+)*)/.exec(userAgent)?.[1] ?? '');
    return { ...set, os: 'Roku OS', osVersion, deviceBrand: 'Roku' };
  }
  // The user agent of Samsung's television browser names only Safari.
  if (agent.os === 'Tizen') {
    const browser = agent.browser === 'Safari' ? 'Samsung Internet' : agent.browser;
    return { ...set, browser, deviceBrand: set.deviceBrand || 'Samsung' };
  }
  return agent.os === 'webOS' ? { ...set, deviceBrand: set.deviceBrand || 'LG' } : set;
}

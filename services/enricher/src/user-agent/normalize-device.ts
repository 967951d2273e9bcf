import { brandName, deviceBrand } from './device-brand.ts';
import type { UserAgent } from './user-agent.ts';

const TELEVISION =
  /\b(?:smart-?tv|hbbtv|web0s|webos\.tv|webostv|netcast|tizen[^)]*\btv|apple ?tv|android ?tv|google ?tv|roku|bravia|crkey|aft[a-z]{1,5}|mitv|mibox|smartcast|viera|philipstv|nettv|vidaa|aquostv|freebox|opera tv|dtv|inettvbrowser)\b|\bSHIELD Android/i;
/** Matches the models of televisions and set-top boxes whose user agent has no word of the pattern above. */
const TELEVISION_MODEL = /^(?:Chromecast|Nexus Player|AQUOS-TV|M[Ii] ?(?:TV|BOX|Box))|(?:^| |[a-z]{3})TV\b/;
/** Matches models whose names say that they are tablets: `moto tab g70`, `HUAWEI MatePad 11`, `vivo Pad2`. It excludes Coolpad, a maker of phones. */
const TABLET_MODEL = /\b(?:tab|(?!cool)\w*pad)\d{0,2}\b/i;
/** No television runs these systems. They are tested first, because the pattern for televisions is the slowest pattern in this file. */
const NO_TELEVISION: ReadonlySet<string> = new Set(['Windows', 'iOS', 'Chrome OS']);
const SAYS_NOTHING = /^(?:K|wv|Mobile|Tablet|Build|Android)$/;

/** Corrects televisions, consoles, watches and headsets that ua-parser-js classifies wrongly or names incompletely. */
export function normalizeDevice(agent: UserAgent, userAgent: string): UserAgent {
  const model = SAYS_NOTHING.test(agent.deviceModel) ? '' : agent.deviceModel.trim();
  const named = { ...agent, deviceModel: model, deviceBrand: brandName(agent.deviceBrand) || deviceBrand(model) };
  if (userAgent.includes('Apple Watch')) {
    return { ...named, os: 'watchOS', deviceType: 'wearable', deviceBrand: 'Apple', deviceModel: 'Apple Watch' };
  }
  // Meta's headsets run Android, but their user agent has Linux when they ask for desktop pages.
  if (agent.browser === 'Oculus Browser') return { ...named, os: 'Android', deviceType: 'wearable' };
  if (agent.os === 'Windows' && /\bXbox\b/.test(userAgent)) return { ...named, os: 'Xbox', deviceType: 'console' };
  const mayBeTelevision = agent.deviceType !== 'console' && !NO_TELEVISION.has(agent.os);
  if (mayBeTelevision && TELEVISION.test(userAgent)) return television(named, userAgent);
  if (agent.os === 'Android') return { ...named, deviceType: androidType(named, userAgent) };
  if (agent.os === 'Nintendo' && agent.browser === 'WebKit') return { ...named, browser: 'Nintendo Browser' };
  return named;
}

function androidType({ deviceType, deviceModel }: UserAgent, userAgent: string): string {
  if (TELEVISION_MODEL.test(deviceModel)) return 'tv';
  const isTablet = deviceType === 'mobile' && TABLET_MODEL.test(deviceModel) && !/\bMobile\b/.test(userAgent);
  return isTablet ? 'tablet' : deviceType;
}

function television(agent: UserAgent, userAgent: string): UserAgent {
  const set = { ...agent, deviceType: 'tv', osVersion: /^\d/.test(agent.osVersion) ? agent.osVersion : '' };
  if (/apple ?tv/i.test(userAgent)) return { ...set, os: 'tvOS', deviceBrand: 'Apple', deviceModel: 'Apple TV' };
  if (/\broku\b/i.test(userAgent)) return { ...set, os: 'Roku OS', deviceBrand: 'Roku' };
  // The user agent of Samsung's television browser names only Safari.
  if (agent.os === 'Tizen') {
    const browser = agent.browser === 'Safari' ? 'Samsung Internet' : agent.browser;
    return { ...set, browser, deviceBrand: agent.deviceBrand || 'Samsung' };
  }
  return agent.os === 'webOS' ? { ...set, deviceBrand: agent.deviceBrand || 'LG' } : set;
}

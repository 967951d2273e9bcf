import { deviceBrand } from './device-brand.ts';
import type { UserAgent } from './user-agent.ts';

const TELEVISION =
  /\b(?:smart-?tv|hbbtv|web0s|webos\.tv|webostv|netcast|tizen[^)]*\btv|apple ?tv|android ?tv|google ?tv|roku|bravia|crkey|aft[a-z]{1,5}|mitv|mibox|smartcast|viera|philipstv|nettv|vidaa|aquostv|freebox|opera tv|dtv|inettvbrowser)\b|\bSHIELD Android/i;
/** No television runs these systems. They are tested first, because the pattern for televisions is the slowest pattern in this file. */
const NO_TELEVISION: ReadonlySet<string> = new Set(['Windows', 'iOS', 'Chrome OS']);
const SAYS_NOTHING = /^(?:K|wv|Mobile|Tablet|Build|Android)$/;

/** Corrects televisions, consoles, watches and headsets that ua-parser-js classifies wrongly or names incompletely. */
export function normalizeDevice(agent: UserAgent, userAgent: string): UserAgent {
  const model = SAYS_NOTHING.test(agent.deviceModel) ? '' : agent.deviceModel;
  const named = {
    ...agent,
    deviceModel: model,
    deviceBrand: agent.deviceBrand === 'Facebook' ? 'Meta' : agent.deviceBrand || deviceBrand(model),
  };
  if (userAgent.includes('Apple Watch')) {
    return { ...named, os: 'watchOS', deviceType: 'wearable', deviceBrand: 'Apple', deviceModel: 'Apple Watch' };
  }
  // Meta's headsets run Android, but their user agent has Linux when they ask for desktop pages.
  if (agent.browser === 'Oculus Browser') return { ...named, os: 'Android', deviceType: 'wearable' };
  if (agent.os === 'Windows' && /\bXbox\b/.test(userAgent)) return { ...named, os: 'Xbox', deviceType: 'console' };
  const mayBeTelevision = agent.deviceType !== 'console' && !NO_TELEVISION.has(agent.os);
  if (mayBeTelevision && TELEVISION.test(userAgent)) return television(named, userAgent);
  if (agent.os === 'Nintendo' && agent.browser === 'WebKit') return { ...named, browser: 'Nintendo Browser' };
  return named;
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

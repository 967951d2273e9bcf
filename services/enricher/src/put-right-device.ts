import type { Client } from './client.ts';
import { deviceBrand } from './device-brand.ts';

const TELEVISION =
  /\b(?:smart-?tv|hbbtv|web0s|webos\.tv|webostv|netcast|tizen[^)]*\btv|apple ?tv|android ?tv|google ?tv|roku|bravia|crkey|aft[a-z]{1,5}|mitv|mibox|smartcast|viera|philipstv|nettv|vidaa|aquostv|freebox|opera tv|dtv|inettvbrowser)\b|\bSHIELD Android/i;
/** No television runs these; the pattern is the dearest of the overlays. */
const NO_TELEVISION: ReadonlySet<string> = new Set(['Windows', 'iOS', 'Chrome OS']);
const SAYS_NOTHING = /^(?:K|wv|Mobile|Tablet|Build|Android)$/;

/** Televisions, consoles, watches and headsets that ua-parser-js takes for something else, or gives half a name. */
export function putRightDevice(client: Client, userAgent: string): Client {
  const model = SAYS_NOTHING.test(client.deviceModel) ? '' : client.deviceModel;
  const named = {
    ...client,
    deviceModel: model,
    deviceBrand: client.deviceBrand === 'Facebook' ? 'Meta' : client.deviceBrand || deviceBrand(model),
  };
  if (userAgent.includes('Apple Watch')) {
    return { ...named, os: 'watchOS', deviceType: 'wearable', deviceBrand: 'Apple', deviceModel: 'Apple Watch' };
  }
  // Meta's headsets run Android, and say Linux when they ask for desktop pages.
  if (client.browser === 'Oculus Browser') return { ...named, os: 'Android', deviceType: 'wearable' };
  if (client.os === 'Windows' && /\bXbox\b/.test(userAgent)) return { ...named, os: 'Xbox', deviceType: 'console' };
  const mayBeTelevision = client.deviceType !== 'console' && !NO_TELEVISION.has(client.os);
  if (mayBeTelevision && TELEVISION.test(userAgent)) return television(named, userAgent);
  if (client.os === 'Nintendo' && client.browser === 'WebKit') return { ...named, browser: 'Nintendo Browser' };
  return named;
}

function television(client: Client, userAgent: string): Client {
  const set = { ...client, deviceType: 'tv', osVersion: /^\d/.test(client.osVersion) ? client.osVersion : '' };
  if (/apple ?tv/i.test(userAgent)) return { ...set, os: 'tvOS', deviceBrand: 'Apple', deviceModel: 'Apple TV' };
  if (/\broku\b/i.test(userAgent)) return { ...set, os: 'Roku OS', deviceBrand: 'Roku' };
  // Samsung's browser of televisions says Safari and no more.
  if (client.os === 'Tizen') {
    const browser = client.browser === 'Safari' ? 'Samsung Internet' : client.browser;
    return { ...set, browser, deviceBrand: client.deviceBrand || 'Samsung' };
  }
  return client.os === 'webOS' ? { ...set, deviceBrand: client.deviceBrand || 'LG' } : set;
}

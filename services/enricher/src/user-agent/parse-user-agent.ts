import { UAParser } from 'ua-parser-js';
import { asHandheld, macintoshClaim } from './apple-handheld.ts';
import { browserName, deviceType, systemFamily } from './browser-and-os-names.ts';
import { unquoted, withHints } from './client-hints.ts';
import { COMMON_BROWSERS, COMMON_DEVICES } from './common-user-agents.ts';
import { inAppBrowser } from './in-app-browsers.ts';
import { MISREAD_DEVICES } from './misread-devices.ts';
import { normalizeBrowser } from './normalize-browser.ts';
import { normalizeDevice } from './normalize-device.ts';
import { normalizeOs } from './normalize-os.ts';
import type { ClientHints, UserAgent } from './user-agent.ts';

/** Longer user agents are cut: parsing the rest takes time and gives no more information. */
export const USER_AGENT_PARSED_CHARS_MAX = 512;

/** Since version 110, Chrome sends Android 10 and the model `K` for every Android device. */
const REDUCED_MODEL = '; K)';
/** Since iOS 26, Safari and web views always send an old system version, mostly `iPhone OS 18_7`. */
const IOS_FROZEN = /^18\./;
const IOS_FROZEN_SINCE = 26;
/**
 * Matches the real system version: `FBSV/26.2` of Facebook, `; iOS 26_2_1` of Instagram and Threads, or the version of Safari, which is also the
 * version of the system. The last match counts, because apps append theirs.
 */
const IOS_REAL = /^.*(?:\bFBSV\/|; iOS |\bVersion\/)(\d+(?:[._]\d+)*)/;

/** One parser for all user agents, because each new parser joins the lists of patterns again. */
const parser = new UAParser({ browser: COMMON_BROWSERS, device: [...COMMON_DEVICES, ...MISREAD_DEVICES] });

/**
 * Parses a user agent, corrects the result, and replaces values by those of the Client Hints. A call takes 10 to 30 µs, so
 * callers cache the result.
 */
export function parseUserAgent(wholeAgent: string, hints: ClientHints | undefined): UserAgent {
  const userAgent = withModel(wholeAgent.slice(0, USER_AGENT_PARSED_CHARS_MAX), hints);
  parser.setUA(userAgent);
  // `getResult()` is not called, because it also finds the engine and the CPU, which takes a quarter of its time.
  const browser = parser.getBrowser();
  const system = parser.getOS();
  const device = parser.getDevice();
  const os = systemFamily(system.name);
  const app = inAppBrowser(userAgent);
  const named: UserAgent = {
    browser: app?.name ?? browserName(browser.name, os),
    browserVersion: app?.version ?? browser.version ?? '',
    os,
    osVersion: system.version ?? '',
    deviceType: deviceType(device.type, os),
    deviceBrand: device.vendor ?? '',
    deviceModel: device.model ?? '',
  };
  const corrected = normalizeDevice(normalizeOs(normalizeBrowser(named, userAgent), userAgent), userAgent);
  const agent = unfrozen(corrected, userAgent);
  if (macintoshClaim(userAgent) === 'sure') return asHandheld(agent, 'iPad');
  return hints === undefined ? agent : withHints(agent, hints);
}

/**
 * Puts the model of the Client Hints into a user agent that has no model. The brand and the device type are then found as for any other
 * model.
 */
function withModel(userAgent: string, hints: ClientHints | undefined): string {
  const model = unquoted(hints?.['sec-ch-ua-model']).replace(/[();]/g, '');
  return model === '' ? userAgent : userAgent.replace(REDUCED_MODEL, () => `; ${model})`);
}

function unfrozen(agent: UserAgent, userAgent: string): UserAgent {
  if (agent.os !== 'iOS' || !IOS_FROZEN.test(agent.osVersion)) return agent;
  const version = IOS_REAL.exec(userAgent)?.[1]?.replaceAll('_', '.') ?? '';
  return Number.parseInt(version, 10) >= IOS_FROZEN_SINCE ? { ...agent, osVersion: version } : agent;
}

import { UAParser } from 'ua-parser-js';
import { asHandheld, macintoshClaim } from './apple-handheld.ts';
import { browserName, deviceType, systemFamily } from './browser-and-os-names.ts';
import { unquoted, withHints } from './client-hints.ts';
import { inAppBrowser } from './in-app-browsers.ts';
import { normalizeDevice } from './normalize-device.ts';
import { normalizeOs } from './normalize-os.ts';
import type { ClientHints, UserAgent } from './user-agent.ts';

/** Longer ones cost ua-parser-js more than they tell. */
export const USER_AGENT_PARSED_CHARS_MAX = 512;

/** Chrome since 110 says Android 10 and `K` of every Android device. */
const REDUCED_MODEL = '; K)';
/** Safari says `iPhone OS 18_7` for good since version 26, which is the system's own number. */
const IOS_FROZEN = /^18\./;
const IOS_FROZEN_SINCE_SAFARI = 26;

/** Parses a user agent (about 100 µs: cache it) and lays our overlays and the Client Hints over it. */
export function parseUserAgent(wholeAgent: string, hints: ClientHints | undefined): UserAgent {
  const userAgent = withModel(wholeAgent.slice(0, USER_AGENT_PARSED_CHARS_MAX), hints);
  const parsed = new UAParser(userAgent).getResult();
  const os = systemFamily(parsed.os.name);
  const app = inAppBrowser(userAgent);
  const named: UserAgent = {
    browser: app?.name ?? browserName(parsed.browser.name, os),
    browserVersion: app?.version ?? parsed.browser.version ?? '',
    os,
    osVersion: parsed.os.version ?? '',
    deviceType: deviceType(parsed.device.type, os),
    deviceBrand: parsed.device.vendor ?? '',
    deviceModel: parsed.device.model ?? '',
  };
  const agent = unfrozen(normalizeDevice(normalizeOs(named, userAgent), userAgent));
  if (macintoshClaim(userAgent) === 'sure') return asHandheld(agent, 'iPad');
  return hints === undefined ? agent : withHints(agent, hints);
}

/** The hint's model where the user agent has none: so its maker, and whether it is a tablet, are found like any other's. */
function withModel(userAgent: string, hints: ClientHints | undefined): string {
  const model = unquoted(hints?.['sec-ch-ua-model']).replace(/[();]/g, '');
  return model === '' ? userAgent : userAgent.replace(REDUCED_MODEL, () => `; ${model})`);
}

function unfrozen(agent: UserAgent): UserAgent {
  const isFrozen = agent.os === 'iOS' && agent.browser === 'Safari' && IOS_FROZEN.test(agent.osVersion);
  const isLater = Number.parseInt(agent.browserVersion, 10) >= IOS_FROZEN_SINCE_SAFARI;
  return isFrozen && isLater ? { ...agent, osVersion: agent.browserVersion } : agent;
}

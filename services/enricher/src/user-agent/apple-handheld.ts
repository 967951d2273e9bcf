import { browserName } from './browser-and-os-names.ts';
import type { UserAgent } from './user-agent.ts';

/**
 * iPads ask for desktop pages by default, and iPhones where their user says so: both call themselves a Macintosh then.
 * What a hit has to tell them by is the user agent and the screen.
 *
 * Sure: `CriOS`, `FxiOS`, `EdgiOS` (browsers that exist on iOS alone) and `Mobile/`, which no Mac says.
 * Nearly sure: a WebKit that is not of a Mac's Chrome or Firefox, on a screen that stands upright with the sides of an iPad.
 * iOS gives the screen upright however it is held; a Mac's is wide, and a monitor that was turned is slimmer (16:10 is
 * 0.63, 16:9 is 0.56) or larger. Not seen: an iPad without a screen in its event, or one that mirrors a wide monitor.
 */
const IOS_ONLY = /\b(?:CriOS|FxiOS|EdgiOS|OPiOS|OPT|GSA|Mobile)\//;
const WEBKIT = /\bAppleWebKit\/(?!53[0-7])\d/;

const IPAD_WIDTH = { min: 700, max: 1194 } as const;
/** From the iPad mini (744 x 1133) to the old 3:4 ones, rounded outwards. */
const IPAD_SIDES = { min: 0.65, max: 0.76 } as const;
const IPHONE_WIDTH = { min: 320, max: 460 } as const;

export type Handheld = 'iPad' | 'iPhone';

/** Whether a user agent that says Macintosh may be of an iPad: `sure`, or `maybe`, when the screen decides. */
export function macintoshClaim(userAgent: string): 'sure' | 'maybe' | undefined {
  if (!userAgent.includes('(Macintosh')) return undefined;
  if (IOS_ONLY.test(userAgent)) return 'sure';
  return WEBKIT.test(userAgent) && !/\b(?:Chrome|Chromium|Firefox)\//.test(userAgent) ? 'maybe' : undefined;
}

/** Of a screen in CSS pixels; undefined for a Mac's, or none. */
export function handheldOf(width: number, height: number): Handheld | undefined {
  if (width === 0 || height <= width) return undefined;
  const sides = width / height;
  if (width >= IPAD_WIDTH.min && width <= IPAD_WIDTH.max && sides >= IPAD_SIDES.min && sides <= IPAD_SIDES.max) {
    return 'iPad';
  }
  return width >= IPHONE_WIDTH.min && width <= IPHONE_WIDTH.max ? 'iPhone' : undefined;
}

/** docs/tables.md, os: the family, so iPadOS is iOS. Its version is Safari's own; `10_15_7` is not a real version. */
export function asHandheld(agent: UserAgent, handheld: Handheld): UserAgent {
  return {
    ...agent,
    browser: browserName(agent.browser, 'iOS'),
    os: 'iOS',
    osVersion: agent.browser === 'Safari' ? agent.browserVersion : '',
    deviceType: handheld === 'iPad' ? 'tablet' : 'mobile',
    deviceBrand: 'Apple',
    deviceModel: handheld,
  };
}

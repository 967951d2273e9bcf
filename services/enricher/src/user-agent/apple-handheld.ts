import { browserName } from './browser-and-os-names.ts';
import type { UserAgent } from './user-agent.ts';

/**
 * iPads ask for desktop pages by default, and iPhones do if their user chooses so. Both then send the user agent of a Macintosh. Weir recognises
 * such a device by the user agent and the screen size of a hit.
 *
 * - Certain: the user agent has the name of a browser that exists only on iOS (`CriOS`, `FxiOS` and others), or `Mobile/`, which no Mac sends.
 * - Almost certain: a WebKit browser other than Chrome or Firefox has a portrait screen of the size of an iPad or iPhone.
 *
 * iOS always reports the screen in portrait, even if the device is turned. The screen of a Mac is wider than high. A monitor in portrait is larger
 * than an iPad, or narrower in proportion (16:10 is 0.63, 16:9 is 0.56). Two kinds of iPads are not recognised: an iPad whose hit has no screen
 * size, and an iPad that is mirrored to a wide monitor.
 */
const IOS_ONLY = /\b(?:CriOS|FxiOS|EdgiOS|OPiOS|OPT|GSA|Mobile)\//;
const WEBKIT = /\bAppleWebKit\/(?!53[0-7])\d/;

const IPAD_WIDTH = { min: 700, max: 1194 } as const;
/** Width divided by height: from the iPad mini (744 x 1133) to the older 3:4 screens, with a margin. */
const IPAD_SIDES = { min: 0.65, max: 0.76 } as const;
const IPHONE_WIDTH = { min: 320, max: 460 } as const;

export type Handheld = 'iPad' | 'iPhone';

/**
 * Whether a user agent that names a Mac comes from an iPad or iPhone. `sure`: it comes from one. `maybe`: the screen size decides. Undefined:
 * it comes from a Mac, or names no Mac.
 */
export function macintoshClaim(userAgent: string): 'sure' | 'maybe' | undefined {
  if (!userAgent.includes('(Macintosh')) return undefined;
  if (IOS_ONLY.test(userAgent)) return 'sure';
  return WEBKIT.test(userAgent) && !/\b(?:Chrome|Chromium|Firefox)\//.test(userAgent) ? 'maybe' : undefined;
}

/** Returns the device with a screen of this size in CSS pixels. Undefined for the screen of a Mac, and if no size was sent. */
export function handheldOf(width: number, height: number): Handheld | undefined {
  if (width === 0 || height <= width) return undefined;
  const sides = width / height;
  if (width >= IPAD_WIDTH.min && width <= IPAD_WIDTH.max && sides >= IPAD_SIDES.min && sides <= IPAD_SIDES.max) {
    return 'iPad';
  }
  return width >= IPHONE_WIDTH.min && width <= IPHONE_WIDTH.max ? 'iPhone' : undefined;
}

/**
 * Returns the values for an iPad or iPhone. The column `os` has the family of operating systems (docs/tables.md), so iPadOS is stored as
 * iOS. Its version is that of Safari, and unknown for other browsers: the version `10_15_7` in such a user agent is not the real one.
 */
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

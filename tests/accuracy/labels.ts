import { browserName, deviceType, systemFamily } from '@weir/enricher/user-agent/browser-and-os-names';

// This file translates the labels of the public data sets (agent-sets.ts), such as woothee, to Weir's terms.

/** Labels that mean that the data set does not know the answer. */
const NOTHING = /^(?:unknown|undefined|other|misc|)$/i;

const BROWSERS: Readonly<Record<string, string>> = {
  'Chrome Mobile': 'Chrome',
  'Chrome Mobile iOS': 'Chrome',
  'Firefox Mobile': 'Firefox',
  'Firefox iOS': 'Firefox',
  'IE Mobile': 'Internet Explorer',
  'Opera Mobile': 'Opera',
  'QQ Browser Mobile': 'QQ Browser',
  Android: 'Android Browser',
  // woothee has one name for the web views of Android and iOS.
  Webview: 'a web view',
};

export function browserLabel(label: string | undefined): string | undefined {
  if (label === undefined || NOTHING.test(label)) return undefined;
  return BROWSERS[label] ?? browserName(label, '');
}

/** Names of operating systems that differ between the data sets. `systemFamily` translates all other names. */
const SYSTEMS: readonly (readonly [pattern: RegExp, family: string])[] = [
  [/^Windows (?:Phone|CE|Mobile)/, 'Windows Phone'],
  [/^Windows/, 'Windows'],
  [/^Mac ?OS ?Classic/i, 'Mac OS Classic'],
  [/^Mac ?OS/i, 'macOS'],
  [/^(?:iPhone|iPad|iPod|iOS)/, 'iOS'],
  [/^(?:ChromeOS|Chrome OS)$/i, 'Chrome OS'],
  [/^PlayStation/i, 'PlayStation'],
  [/^Nintendo/, 'Nintendo'],
  [/^Xbox/, 'Xbox'],
];

export function systemLabel(label: string | undefined): string | undefined {
  if (label === undefined || NOTHING.test(label)) return undefined;
  return SYSTEMS.find(([pattern]) => pattern.test(label))?.[1] ?? systemFamily(label);
}

const DEVICES: Readonly<Record<string, string>> = {
  pc: 'desktop',
  smartphone: 'mobile',
  mobilephone: 'mobile',
  iPhone: 'mobile',
  iPod: 'mobile',
  iPad: 'tablet',
  HbbTV: 'tv',
};

/**
 * Translates a label of a device. `system`: the operating system of the case. woothee's label "appliance" means a console or a television, and
 * only the operating system shows which one.
 */
export function deviceLabel(label: string | undefined, system = ''): string | undefined {
  if (label === undefined) return undefined;
  // woothee has no label for tablets: it calls an iPad a smartphone and a Windows tablet a PC.
  if (label === 'smartphone' && system === 'iPad') return 'tablet';
  if (label === 'appliance') return /^(?:PlayStation|Nintendo|Xbox)/i.test(system) ? 'console' : 'tv';
  if (/^(?:PlayStation|Nintendo)/.test(label)) return 'console';
  if (/^Kindle Fire/.test(label)) return 'tablet';
  const known = DEVICES[label] ?? deviceType(label, '');
  return known === '' ? undefined : known;
}

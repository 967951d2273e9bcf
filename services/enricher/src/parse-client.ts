import { UAParser } from 'ua-parser-js';
import { browserName, deviceType, systemFamily } from './client-names.ts';

/** What a user agent tells of browser, system and device. Empty where it doesn't. */
export interface Client {
  readonly browser: string;
  readonly browserVersion: string;
  readonly os: string;
  readonly osVersion: string;
  readonly deviceType: string;
  readonly deviceBrand: string;
  readonly deviceModel: string;
}

export const NO_CLIENT: Client = {
  browser: '',
  browserVersion: '',
  os: '',
  osVersion: '',
  deviceType: '',
  deviceBrand: '',
  deviceModel: '',
};

/** Longer ones cost ua-parser-js more than they tell. */
export const USER_AGENT_PARSED_CHARS_MAX = 512;

const TELEVISION =
  /\b(?:smart-?tv|hbbtv|web0s|webos\.tv|netcast|tizen.*\btv|apple ?tv|roku|bravia|crkey|aft[a-z]{1,4})\b/i;
/** Chrome since 110 says `K` for every Android device's model. */
const REDUCED_MODEL = 'K';

export type ClientHints = Readonly<Record<string, string>>;

/** Parses a user agent (about 100 µs: cache it) and lays over it what the Client Hints know better. */
export function parseClient(userAgent: string, hints: ClientHints | undefined): Client {
  const parsed = new UAParser(userAgent.slice(0, USER_AGENT_PARSED_CHARS_MAX)).getResult();
  const os = systemFamily(parsed.os.name);
  const model = parsed.device.model;
  const fromAgent: Client = {
    browser: browserName(parsed.browser.name),
    browserVersion: parsed.browser.version ?? '',
    os,
    osVersion: parsed.os.version ?? '',
    deviceType: TELEVISION.test(userAgent) ? 'tv' : deviceType(parsed.device.type, os),
    deviceBrand: model === REDUCED_MODEL ? '' : (parsed.device.vendor ?? ''),
    deviceModel: model === undefined || model === REDUCED_MODEL ? '' : model,
  };
  return hints === undefined ? fromAgent : withHints(fromAgent, hints);
}

/** Brands of browsers that call themselves Chrome in their user agent. */
const HIDDEN_BRANDS = ['Brave', 'Vivaldi', 'DuckDuckGo', 'Opera GX', 'Arc'];
/** Sec-CH-UA-Platform-Version of Windows 11; its user agent says 10. */
const WINDOWS_11_PLATFORM_VERSION = 13;

function withHints(client: Client, hints: ClientHints): Client {
  const brands = hints['sec-ch-ua-full-version-list'] ?? hints['sec-ch-ua'] ?? '';
  const brand = HIDDEN_BRANDS.find((name) => brands.includes(`"${name}"`));
  const model = unquoted(hints['sec-ch-ua-model']);
  return {
    ...client,
    browser: brand ?? client.browser,
    osVersion: hintedVersion(client, unquoted(hints['sec-ch-ua-platform-version'])),
    deviceModel: model === '' ? client.deviceModel : model,
    deviceType:
      client.deviceType === 'desktop' && client.os === 'Android' && hints['sec-ch-ua-mobile'] === '?1'
        ? 'mobile'
        : client.deviceType,
  };
}

function hintedVersion(client: Client, platformVersion: string): string {
  if (platformVersion === '') return client.osVersion;
  if (client.os !== 'Windows') return platformVersion;
  return Number.parseInt(platformVersion, 10) >= WINDOWS_11_PLATFORM_VERSION ? '11' : client.osVersion;
}

function unquoted(text: string | undefined): string {
  return text === undefined ? '' : text.replace(/^"|"$/g, '').slice(0, 64);
}

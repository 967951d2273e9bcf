/** What a user agent tells of browser, system and device. Empty where it doesn't. */
export interface UserAgent {
  readonly browser: string;
  readonly browserVersion: string;
  readonly os: string;
  readonly osVersion: string;
  readonly deviceType: string;
  readonly deviceBrand: string;
  readonly deviceModel: string;
}

export const EMPTY_USER_AGENT: UserAgent = {
  browser: '',
  browserVersion: '',
  os: '',
  osVersion: '',
  deviceType: '',
  deviceBrand: '',
  deviceModel: '',
};

/** By lower-case header name, as sent. */
export type ClientHints = Readonly<Record<string, string>>;

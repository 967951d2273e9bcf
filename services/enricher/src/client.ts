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

/** By lower-case header name, as sent. */
export type ClientHints = Readonly<Record<string, string>>;

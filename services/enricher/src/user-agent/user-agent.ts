/** The browser, operating system and device of a user agent. A field is empty if the user agent does not contain it. */
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

/** Client Hints as sent, by lower-case header name. */
export type ClientHints = Readonly<Record<string, string>>;

import type { Keep } from './keep.ts';

/** A site of the registry. Times in this file are Unix milliseconds. */
export interface Site {
  readonly siteId: string;
  readonly name: string;
  /** Registrable or full host name, e.g. `example.com`. Referrers with the same registrable domain are internal. */
  readonly domain: string;
  /** IANA name, e.g. `Europe/Berlin`. */
  readonly timezone: string;
  /** Requests per minute. If a limit is absent, the configured default applies. */
  readonly limits: SiteLimits;
  /** Names of the query parameters that stored URLs keep (query-allow.ts). If absent, all are kept; if empty, none is kept. */
  readonly queryAllow?: readonly string[];
  /** Absent if the site has no identity secret. Then Weir does not check the signatures of identify hits. */
  readonly identityVerification?: IdentityVerification;
  /** For how long the tables keep the rows of the site. If a time is absent, the setting for all sites applies. */
  readonly keep?: Partial<Keep>;
  readonly createdAt: number;
}

/** How a site authenticates the identify hits of browsers: hits that name the user of a visitor (people/identity-signature.ts). */
export interface IdentityVerification {
  /**
   * The plain secret, because signatures are computed with it. The admin API returns it only once, when it is created. Log lines never
   * contain it.
   */
  readonly secret: string;
  readonly secretCreatedAt: number;
  /** If true, an identify of a browser without a valid signature is dropped. */
  readonly required: boolean;
}

export interface SiteLimits {
  readonly collect?: number;
  readonly events?: number;
  readonly identify?: number;
}

export type Scope = 'events:write' | 'identify:write';

export interface ApiKey {
  readonly keyId: string;
  readonly siteId: string;
  readonly name: string;
  /** SHA-256 of the plain key, lower-case hex. The plain key is never stored. */
  readonly hash: string;
  readonly scopes: readonly Scope[];
  /** True for a legacy identify key, which can only identify users (docs/api.md, API keys). Its scopes are `['identify:write']`. */
  readonly legacyIdentify: boolean;
  readonly createdAt: number;
}

export type ExclusionType = 'ip' | 'path' | 'hostname' | 'country' | 'user_agent' | 'visitor' | 'bots';

export interface ExclusionRule {
  readonly ruleId: string;
  readonly siteId: string;
  readonly type: ExclusionType;
  readonly value: string;
  readonly createdAt: number;
}

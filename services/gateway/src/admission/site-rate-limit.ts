import type { SiteLimits } from '@weir/domain/registry/site';
import type { RouteDeps } from '../gateway-deps.ts';

export interface SiteRateLimit {
  readonly perMinute: number;
  /** True if the site has a limit of its own. Otherwise it has the limit of the configuration. */
  readonly isOwn: boolean;
}

/** The rate limit that applies to requests for a site. `siteId` is undefined if the request names no site. */
export function siteRateLimit(
  { registry, config }: Pick<RouteDeps, 'registry' | 'config'>,
  rateLimit: keyof SiteLimits,
  siteId: string | undefined,
): SiteRateLimit {
  const own = siteId === undefined ? undefined : registry.site(siteId)?.limits[rateLimit];
  return { perMinute: own ?? config.rateLimits[rateLimit], isOwn: own !== undefined };
}

import { NEW_SITE, SITE_CHANGE } from '@weir/domain/admin-schemas';
import type { Site, SiteLimits } from '@weir/domain/site';
import type { Router } from 'express';
import type { ControlDeps } from '../control-deps.ts';
import { defineRoute, param } from '../define-route.ts';
import { randomId } from '../random-id.ts';
import { conflict, created, invalid, notFound, ok } from '../reply.ts';
import type { Serial } from '../serial.ts';
import { timeText } from '../time-text.ts';
import { compileBody } from '../validate.ts';

const SITES_MAX = 10_000;

interface SiteFields {
  readonly site_id?: string;
  readonly name?: string;
  readonly domain?: string;
  readonly timezone?: string;
  readonly limits?: Readonly<Record<keyof SiteLimits, number | null>>;
  readonly query_allow?: readonly string[] | null;
}

export function siteRoutes(router: Router, deps: ControlDeps, serial: Serial): void {
  const { registry } = deps;
  const checkNew = compileBody<SiteFields & { readonly name: string; readonly domain: string }>(NEW_SITE);
  const checkChange = compileBody<SiteFields>(SITE_CHANGE);

  defineRoute(router, '/sites', {
    get: () => ok(registry.sites().map(siteView)),
    post: (request) =>
      serial(async () => {
        const checked = checkNew(request.body);
        if ('problem' in checked) return invalid(checked.problem);
        const {
          site_id: siteId = randomId('site', deps.randomBytes),
          timezone = 'UTC',
          name,
          domain,
          limits,
          query_allow: queryAllow,
        } = checked.value;
        if (!isTimezone(timezone)) return invalid(TIMEZONE_RULE);
        if (registry.site(siteId) !== undefined) return conflict(`site_id ${siteId} is taken`);
        if (registry.sites().length >= SITES_MAX)
          return conflict(`there are ${SITES_MAX} sites, the most there can be`);
        const site: Site = {
          siteId,
          name,
          domain: domain.toLowerCase(),
          timezone,
          limits: changeLimits({}, limits),
          ...(queryAllow && { queryAllow }),
          createdAt: deps.clock(),
        };
        await registry.putSite(site);
        return created(siteView(site));
      }),
  });

  defineRoute(router, '/sites/:site_id', {
    get: (request) => {
      const site = registry.site(param(request, 'site_id'));
      return site === undefined ? notFound('site') : ok(siteView(site));
    },
    patch: (request) =>
      serial(async () => {
        const site = registry.site(param(request, 'site_id'));
        if (site === undefined) return notFound('site');
        const checked = checkChange(request.body);
        if ('problem' in checked) return invalid(checked.problem);
        const { queryAllow: allowed, ...rest } = site;
        const { name = site.name, domain = site.domain, timezone = site.timezone, limits } = checked.value;
        const { query_allow: queryAllow = allowed } = checked.value;
        if (!isTimezone(timezone)) return invalid(TIMEZONE_RULE);
        const changed: Site = {
          ...rest,
          name,
          domain: domain.toLowerCase(),
          timezone,
          limits: changeLimits(site.limits, limits),
          ...(queryAllow && { queryAllow }),
        };
        await registry.putSite(changed);
        return ok(siteView(changed));
      }),
    delete: (request) =>
      serial(async () => {
        const siteId = param(request, 'site_id');
        if (registry.site(siteId) === undefined) return notFound('site');
        await registry.removeSite(siteId);
        return ok({ site_id: siteId, removed: true });
      }),
  });
}

function siteView(site: Site): object {
  return {
    site_id: site.siteId,
    name: site.name,
    domain: site.domain,
    timezone: site.timezone,
    limits: site.limits,
    query_allow: site.queryAllow ?? null,
    created_at: timeText(site.createdAt),
  };
}

/** Limits that are sent replace, null goes back to the default, limits that are not sent stay. */
function changeLimits(limits: SiteLimits, change: SiteFields['limits']): SiteLimits {
  const merged = Object.entries({ ...limits, ...change }).filter(([, perMinute]) => perMinute !== null);
  return Object.fromEntries(merged);
}

const TIMEZONE_RULE = 'timezone must be an IANA time zone such as Europe/Berlin';

function isTimezone(timezone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
    return !/^[+-]/.test(timezone);
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

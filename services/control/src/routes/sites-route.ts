import { KEEP_KINDS, type Keep, type KeepKind, keepOf, keepProblem } from '@weir/domain/registry/keep';
import type { Site, SiteLimits } from '@weir/domain/registry/site';
import { TIMEZONE_RULE, timezoneName } from '@weir/domain/registry/time-zone';
import type { AdminDeps } from '../control-deps.ts';
import { requestErasure, TOO_MANY_ERASURES } from '../erasure/request-erasure.ts';
import { formatTime } from '../format-time.ts';
import { busy, conflict, created, invalid, ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest, SiteRequest } from '../http/admin-route.ts';
import { changeInSite } from '../http/change-in-site.ts';
import { identityVerificationView, NO_SECRET } from '../registry/identity-verification.ts';
import { randomId } from '../registry/random-id.ts';

const SITES_MAX = 10_000;

interface SiteFields {
  readonly site_id?: string;
  readonly name?: string;
  readonly domain?: string;
  readonly timezone?: string;
  readonly limits?: Readonly<Record<keyof SiteLimits, number | null>>;
  readonly query_allow?: readonly string[] | null;
  readonly keep?: Readonly<Partial<Record<KeepKind, string | null>>>;
  readonly identity_verification?: { readonly required: boolean };
}

type NewSite = SiteFields & { readonly name: string; readonly domain: string };

export function listSites(deps: AdminDeps): Reply {
  return ok(deps.registry.sites().map((site) => siteView(deps, site)));
}

export function createSite(deps: AdminDeps, { body }: AdminRequest<NewSite>): Promise<Reply> {
  const { registry, runExclusive, randomBytes, clock } = deps;
  return runExclusive(async () => {
    if ('problem' in body) return invalid(body.problem);
    // Another process may have created the same site just now.
    await registry.readToEnd();
    const { site_id: siteId = randomId('site', randomBytes), name, domain, limits } = body.value;
    const { query_allow: queryAllow } = body.value;
    const keep = changeKeep({}, body.value.keep);
    const timezone = timezoneName(body.value.timezone ?? 'UTC');
    if (timezone === undefined) return invalid(TIMEZONE_RULE);
    const refused = keepProblem(keepOf({ keep }, deps.keep));
    if (refused !== undefined) return invalid(`keep: ${refused}`);
    if (registry.site(siteId) !== undefined) return conflict(`site_id ${siteId} is taken`);
    if (isBeingErased(deps, siteId)) return busy(`the removed site ${siteId} is still being erased`);
    if (registry.sites().length >= SITES_MAX) return conflict(`there are ${SITES_MAX} sites, the most there can be`);
    const site: Site = {
      siteId,
      name,
      domain: domain.toLowerCase(),
      timezone,
      limits: changeLimits({}, limits),
      ...(queryAllow && { queryAllow }),
      keep,
      createdAt: clock(),
    };
    await registry.putSite(site);
    return created(siteView(deps, site));
  });
}

export function readSite(deps: AdminDeps, { site }: SiteRequest): Reply {
  return ok(siteView(deps, site));
}

export function changeSite(deps: AdminDeps, request: AdminRequest<SiteFields>): Promise<Reply> {
  return changeInSite(deps, request, async (site, body) => {
    const { queryAllow: allowed, ...rest } = site;
    const { name = site.name, domain = site.domain, timezone: sentZone = site.timezone, limits } = body;
    const { query_allow: queryAllow = allowed, identity_verification: verification } = body;
    // A site keeps the time zone that it has, even if only an earlier version of Weir accepted this zone.
    const timezone = timezoneName(sentZone) ?? (sentZone === site.timezone ? sentZone : undefined);
    if (timezone === undefined) return invalid(TIMEZONE_RULE);
    const keep = changeKeep(site.keep ?? {}, body.keep);
    const refused = keepProblem(keepOf({ keep }, deps.keep));
    if (refused !== undefined) return invalid(`keep: ${refused}`);
    if (JSON.stringify(keep) !== JSON.stringify(site.keep ?? {}) && isReplaying(deps)) return busy(REPLAYING);
    if (verification?.required === true && site.identityVerification === undefined) return conflict(NO_SECRET);
    const changed: Site = {
      ...rest,
      name,
      domain: domain.toLowerCase(),
      timezone,
      limits: changeLimits(site.limits, limits),
      keep,
      ...(queryAllow && { queryAllow }),
      ...(site.identityVerification && {
        identityVerification: { ...site.identityVerification, ...verification },
      }),
    };
    await deps.registry.putSite(changed);
    return ok(siteView(deps, changed));
  });
}

/**
 * Starts the erasure of all records of the site, and removes the site. If the removal fails, the erasure removes the site later. A repeated request
 * then continues with the same erasure.
 */
export function removeSite(deps: AdminDeps, request: AdminRequest): Promise<Reply> {
  const { registry } = deps;
  return changeInSite(deps, request, async ({ siteId, createdAt: removesSite }) => {
    // Finds the erasure that an interrupted request has begun. An erasure has `ends` only after it has removed its site. Such an erasure is not used
    // here, because it does not remove the site again.
    const begun = registry
      .erasures()
      .find((one) => one.siteId === siteId && one.removesSite === removesSite && one.ends === undefined);
    const all = { siteId, visitors: [], users: [], whole: true, removesSite };
    const erasure = begun ?? (await requestErasure(deps, all));
    if (erasure === undefined) return conflict(TOO_MANY_ERASURES);
    await registry.removeSite(siteId);
    return ok({ site_id: siteId, removed: true, erasure_id: erasure.erasureId });
  });
}

/**
 * Whether an erasure of a removed site with this ID has not ended yet. Until the erasure has ended, the ID cannot be used again: a new site must
 * begin without old records and without old idempotency keys.
 */
function isBeingErased({ registry }: AdminDeps, siteId: string): boolean {
  return registry.erasures().some((one) => one.siteId === siteId && one.whole && one.phase !== 'done');
}

function siteView({ keep }: Pick<AdminDeps, 'keep'>, site: Site): object {
  return {
    site_id: site.siteId,
    name: site.name,
    domain: site.domain,
    timezone: site.timezone,
    limits: site.limits,
    query_allow: site.queryAllow ?? null,
    keep: Object.fromEntries(KEEP_KINDS.map((kind) => [kind, site.keep?.[kind] ?? null])),
    kept: keepOf(site, keep),
    identity_verification: identityVerificationView(site.identityVerification),
    created_at: formatTime(site.createdAt),
  };
}

/**
 * Applies changed limits: a number replaces the old limit, null restores the default, and a limit that was not sent stays
 * unchanged.
 */
function changeLimits(limits: SiteLimits, change: SiteFields['limits']): SiteLimits {
  const merged = Object.entries({ ...limits, ...change }).filter(([, perMinute]) => perMinute !== null);
  return Object.fromEntries(merged);
}

/** The new times to keep rows. Fields that the request does not contain stay, and null removes a field. */
function changeKeep(keep: Partial<Keep>, change: SiteFields['keep']): Partial<Keep> {
  const merged = { ...keep, ...change };
  return Object.fromEntries(KEEP_KINDS.map((kind) => [kind, merged[kind]]).filter(([, text]) => text));
}

/** Whether there is a replay that was not swapped or undone. It uses `keep` to decide which rows have expired, so `keep` must not be changed. */
function isReplaying({ registry }: AdminDeps): boolean {
  const phase = registry.replay()?.state?.phase;
  return registry.replay() !== undefined && phase !== 'swapped' && phase !== 'undone';
}
const REPLAYING = 'a replay is running: change keep when it is swapped or dropped';

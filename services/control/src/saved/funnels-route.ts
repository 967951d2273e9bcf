import type { Funnel } from '@weir/domain/registry/saved';
import type { AdminDeps } from '../control-deps.ts';
import { formatTime } from '../format-time.ts';
import { conflict, created, fullSite, invalid, notFound, ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest, SiteRequest } from '../http/admin-route.ts';
import { changeInSite } from '../http/change-in-site.ts';
import { randomId } from '../registry/random-id.ts';
import { readFunnel, WITHIN_DEFAULT } from '../reports/paths/read-funnel.ts';

const FUNNELS_PER_SITE_MAX = 100;

interface NewFunnel extends Pick<Funnel, 'name' | 'steps'> {
  readonly within?: string;
}

export function listFunnels({ registry }: AdminDeps, { site: { siteId } }: SiteRequest): Reply {
  return ok(registry.funnels(siteId).map(funnelView));
}

export function createFunnel(deps: AdminDeps, request: AdminRequest<NewFunnel>): Promise<Reply> {
  const { registry, randomBytes, clock } = deps;
  return changeInSite(deps, request, async ({ siteId }, { name, steps, within = WITHIN_DEFAULT }) => {
    const read = readFunnel(steps, within);
    if ('problem' in read) return invalid(read.problem);
    const funnels = registry.funnels(siteId);
    const same = funnels.find((funnel) => funnel.name === name);
    if (same !== undefined) return conflict(`the site has a funnel with this name already: ${same.funnelId}`);
    if (funnels.length >= FUNNELS_PER_SITE_MAX) return fullSite(FUNNELS_PER_SITE_MAX, 'saved funnels');
    const funnelId = randomId('funnel', randomBytes);
    const funnel: Funnel = { funnelId, siteId, name, steps, within, createdAt: clock() };
    await registry.putFunnel(funnel);
    return created(funnelView(funnel));
  });
}

export function removeFunnel({ registry, runExclusive }: AdminDeps, { params }: AdminRequest): Promise<Reply> {
  return runExclusive(async () => {
    const { site_id: siteId = '', funnel_id: funnelId = '' } = params;
    if (!registry.funnels(siteId).some((funnel) => funnel.funnelId === funnelId)) return notFound('funnel');
    await registry.removeFunnel(siteId, funnelId);
    return ok({ funnel_id: funnelId, removed: true });
  });
}

function funnelView({ funnelId, siteId, name, steps, within, createdAt }: Funnel): object {
  return { funnel_id: funnelId, site_id: siteId, name, steps, within, created_at: formatTime(createdAt) };
}

import { hashApiKey } from '@weir/domain/registry/api-key';
import { newViewerToken, tokenPrefix, type Viewer } from '@weir/domain/registry/viewer';
import type { Registry } from '@weir/ports/registry';
import type { AdminDeps } from '../control-deps.ts';
import { formatTime } from '../format-time.ts';
import { created, fullSite, notFound, ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest, SiteRequest } from '../http/admin-route.ts';
import { changeInSite } from '../http/change-in-site.ts';
import { isKnownToAny } from '../registry/known-to-any.ts';
import { randomId } from '../registry/random-id.ts';

const VIEWERS_PER_SITE_MAX = 1000;

export function listViewers({ registry }: AdminDeps, { site: { siteId } }: SiteRequest): Reply {
  return ok(registry.viewers(siteId).map((viewer) => viewerView(viewer, registry)));
}

export function createViewer(deps: AdminDeps, request: AdminRequest<{ readonly name: string }>): Promise<Reply> {
  const { registry, randomBytes, clock } = deps;
  return changeInSite(deps, request, async ({ siteId }, { name }) => {
    if (registry.viewers(siteId).length >= VIEWERS_PER_SITE_MAX) return fullSite(VIEWERS_PER_SITE_MAX, 'viewers');
    const token = newViewerToken(randomBytes);
    const viewer: Viewer = {
      viewerId: randomId('viewer', randomBytes),
      siteId,
      name,
      hash: hashApiKey(token),
      prefix: tokenPrefix(token),
      createdAt: clock(),
    };
    await registry.putViewer(viewer);
    return created({ ...viewerView(viewer, registry), token });
  });
}

export function removeViewer({ registry, runExclusive }: AdminDeps, { params }: AdminRequest): Promise<Reply> {
  return runExclusive(async () => {
    const { site_id: siteId = '', viewer_id: viewerId = '' } = params;
    const isKnown = () => registry.viewer(viewerId)?.siteId === siteId;
    if (!(await isKnownToAny(registry, isKnown))) return notFound('viewer');
    await registry.removeViewer(siteId, viewerId);
    return ok({ viewer_id: viewerId, removed: true });
  });
}

/** The fields of a viewer that the admin API shows: neither the token nor its hash. */
function viewerView(viewer: Viewer, registry: Registry): object {
  const use = registry.tokenUse(viewer.viewerId);
  return {
    viewer_id: viewer.viewerId,
    site_id: viewer.siteId,
    name: viewer.name,
    prefix: viewer.prefix,
    created_at: formatTime(viewer.createdAt),
    last_used_at: use === undefined ? null : formatTime(use.at),
  };
}

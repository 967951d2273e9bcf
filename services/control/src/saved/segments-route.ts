import type { Segment } from '@weir/domain/registry/saved';
import type { AdminDeps } from '../control-deps.ts';
import { formatTime } from '../format-time.ts';
import { conflict, created, fullSite, invalid, notFound, ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest, SiteRequest } from '../http/admin-route.ts';
import { changeInSite } from '../http/change-in-site.ts';
import { randomId } from '../registry/random-id.ts';
import { readFilters } from '../reports/filter.ts';

const SEGMENTS_PER_SITE_MAX = 200;

export function listSegments({ registry }: AdminDeps, { site: { siteId } }: SiteRequest): Reply {
  return ok(registry.segments(siteId).map(segmentView));
}

export function createSegment(
  deps: AdminDeps,
  request: AdminRequest<Pick<Segment, 'name' | 'filters'>>,
): Promise<Reply> {
  const { registry, randomBytes, clock } = deps;
  return changeInSite(deps, request, async ({ siteId }, { name, filters }) => {
    const read = readFilters(filters);
    if ('problem' in read) return invalid(read.problem);
    const segments = registry.segments(siteId);
    const same = segments.find((segment) => segment.name === name);
    if (same !== undefined) return conflict(`the site has a segment with this name already: ${same.segmentId}`);
    if (segments.length >= SEGMENTS_PER_SITE_MAX) return fullSite(SEGMENTS_PER_SITE_MAX, 'segments');
    const segment: Segment = { segmentId: randomId('segment', randomBytes), siteId, name, filters, createdAt: clock() };
    await registry.putSegment(segment);
    return created(segmentView(segment));
  });
}

export function removeSegment({ registry, runExclusive }: AdminDeps, { params }: AdminRequest): Promise<Reply> {
  return runExclusive(async () => {
    const { site_id: siteId = '', segment_id: segmentId = '' } = params;
    if (!registry.segments(siteId).some((segment) => segment.segmentId === segmentId)) return notFound('segment');
    await registry.removeSegment(siteId, segmentId);
    return ok({ segment_id: segmentId, removed: true });
  });
}

function segmentView({ segmentId, siteId, name, filters, createdAt }: Segment): object {
  return { segment_id: segmentId, site_id: siteId, name, filters, created_at: formatTime(createdAt) };
}

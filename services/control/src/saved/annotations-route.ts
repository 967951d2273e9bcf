import type { Annotation } from '@weir/domain/registry/saved';
import { zoneOf } from '@weir/domain/registry/time-zone';
import type { AdminDeps } from '../control-deps.ts';
import { formatTime } from '../format-time.ts';
import { created, fullSite, invalid, notFound, ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest, SiteRequest } from '../http/admin-route.ts';
import { changeInSite } from '../http/change-in-site.ts';
import { randomId } from '../registry/random-id.ts';
import { momentOf, TIME_RULE } from '../reports/period.ts';

const ANNOTATIONS_PER_SITE_MAX = 1000;

export function listAnnotations({ registry }: AdminDeps, { site: { siteId } }: SiteRequest): Reply {
  return ok(
    registry
      .annotations(siteId)
      .toSorted((a, b) => a.at - b.at)
      .map(annotationView),
  );
}

export function createAnnotation(
  deps: AdminDeps,
  request: AdminRequest<{ readonly at: string; readonly text: string }>,
): Promise<Reply> {
  const { registry, randomBytes, clock } = deps;
  return changeInSite(deps, request, async (site, { at: time, text }) => {
    const { siteId } = site;
    const at = momentOf(time, zoneOf(site), 0);
    if (at === undefined) return invalid(`at ${TIME_RULE}`);
    if (registry.annotations(siteId).length >= ANNOTATIONS_PER_SITE_MAX)
      return fullSite(ANNOTATIONS_PER_SITE_MAX, 'annotations');
    const annotationId = randomId('annotation', randomBytes);
    const annotation: Annotation = { annotationId, siteId, at, text, createdAt: clock() };
    await registry.putAnnotation(annotation);
    return created(annotationView(annotation));
  });
}

/** Changes an annotation. A field that the request does not have stays as it is. */
export function changeAnnotation(
  { registry, runExclusive }: AdminDeps,
  { params, body }: AdminRequest<{ readonly at?: string; readonly text?: string }>,
): Promise<Reply> {
  return runExclusive(async () => {
    const { site_id: siteId = '', annotation_id: annotationId = '' } = params;
    const site = registry.site(siteId);
    const old = registry.annotations(siteId).find((annotation) => annotation.annotationId === annotationId);
    if (site === undefined || old === undefined) return notFound('annotation');
    if ('problem' in body) return invalid(body.problem);
    const { at: time, text = old.text } = body.value;
    const at = time === undefined ? old.at : momentOf(time, zoneOf(site), 0);
    if (at === undefined) return invalid(`at ${TIME_RULE}`);
    const changed: Annotation = { ...old, at, text };
    await registry.putAnnotation(changed);
    return ok(annotationView(changed));
  });
}

export function removeAnnotation({ registry, runExclusive }: AdminDeps, { params }: AdminRequest): Promise<Reply> {
  return runExclusive(async () => {
    const { site_id: siteId = '', annotation_id: annotationId = '' } = params;
    const isKnown = registry.annotations(siteId).some((annotation) => annotation.annotationId === annotationId);
    if (!isKnown) return notFound('annotation');
    await registry.removeAnnotation(siteId, annotationId);
    return ok({ annotation_id: annotationId, removed: true });
  });
}

function annotationView({ annotationId, siteId, at, text, createdAt }: Annotation): object {
  return { annotation_id: annotationId, site_id: siteId, at: formatTime(at), text, created_at: formatTime(createdAt) };
}

import { ANNOTATION_CHANGE, NEW_ANNOTATION, NEW_FUNNEL, NEW_SEGMENT } from '@weir/domain/registry/saved-limits';
import type { AdminRoute } from './http/admin-route.ts';
import { SAVED_OPERATIONS as OPERATIONS } from './openapi/access/saved-operations.ts';
import { changeAnnotation, createAnnotation, listAnnotations, removeAnnotation } from './saved/annotations-route.ts';
import { createFunnel, listFunnels, removeFunnel } from './saved/funnels-route.ts';
import { createSegment, listSegments, removeSegment } from './saved/segments-route.ts';

const SEGMENTS = '/sites/{site_id}/segments';
const FUNNELS = '/sites/{site_id}/funnels';
const ANNOTATIONS = '/sites/{site_id}/annotations';

/** The routes of saved segments (filters of reports), funnels and annotations, relative to /api/admin. */
export const SAVED_ROUTES: readonly AdminRoute[] = [
  { method: 'GET', path: SEGMENTS, role: 'viewer', operation: OPERATIONS.listSegments, handler: listSegments },
  {
    method: 'POST',
    path: SEGMENTS,
    role: 'admin',
    body: NEW_SEGMENT,
    operation: OPERATIONS.createSegment,
    handler: createSegment,
  },
  {
    method: 'DELETE',
    path: `${SEGMENTS}/{segment_id}`,
    role: 'admin',
    operation: OPERATIONS.removeSegment,
    handler: removeSegment,
  },
  { method: 'GET', path: FUNNELS, role: 'viewer', operation: OPERATIONS.listFunnels, handler: listFunnels },
  {
    method: 'POST',
    path: FUNNELS,
    role: 'admin',
    body: NEW_FUNNEL,
    operation: OPERATIONS.createFunnel,
    handler: createFunnel,
  },
  {
    method: 'DELETE',
    path: `${FUNNELS}/{funnel_id}`,
    role: 'admin',
    operation: OPERATIONS.removeFunnel,
    handler: removeFunnel,
  },
  { method: 'GET', path: ANNOTATIONS, role: 'viewer', operation: OPERATIONS.listAnnotations, handler: listAnnotations },
  {
    method: 'POST',
    path: ANNOTATIONS,
    role: 'admin',
    body: NEW_ANNOTATION,
    operation: OPERATIONS.createAnnotation,
    handler: createAnnotation,
  },
  {
    method: 'PATCH',
    path: `${ANNOTATIONS}/{annotation_id}`,
    role: 'admin',
    body: ANNOTATION_CHANGE,
    operation: OPERATIONS.changeAnnotation,
    handler: changeAnnotation,
  },
  {
    method: 'DELETE',
    path: `${ANNOTATIONS}/{annotation_id}`,
    role: 'admin',
    operation: OPERATIONS.removeAnnotation,
    handler: removeAnnotation,
  },
];

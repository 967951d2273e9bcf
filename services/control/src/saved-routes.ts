import { ANNOTATION_CHANGE, NEW_ANNOTATION, NEW_SEGMENT } from '@weir/domain/registry/admin-limits';
import type { AdminRoute } from './http/admin-route.ts';
import { SAVED_OPERATIONS as OPERATIONS } from './openapi/access/saved-operations.ts';
import { changeAnnotation, createAnnotation, listAnnotations, removeAnnotation } from './saved/annotations-route.ts';
import { createSegment, listSegments, removeSegment } from './saved/segments-route.ts';

const SEGMENTS = '/sites/{site_id}/segments';
const ANNOTATIONS = '/sites/{site_id}/annotations';

/** The routes of segments and annotations, which people save for reports. Paths are relative to /api/admin. */
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

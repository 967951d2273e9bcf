import { NEW_SESSION, NEW_VIEWER } from '@weir/domain/registry/admin-limits';
import type { AdminRoute } from './http/admin-route.ts';
import { ACCESS_OPERATIONS as OPERATIONS } from './openapi/access/access-operations.ts';
import { beginSession, endSession, endSessions, readSession } from './sign-in/sessions-route.ts';
import { createViewer, listViewers, removeViewer } from './sign-in/viewers-route.ts';

const VIEWERS = '/sites/{site_id}/viewers';

/** The routes with which browsers sign in and out, and the admin manages viewers (docs/api.md). Paths are relative to /api/admin. */
export const SESSION_ROUTES: readonly AdminRoute[] = [
  {
    method: 'POST',
    path: '/session',
    role: 'anyone',
    body: NEW_SESSION,
    bodyBytesMax: 4096,
    operation: OPERATIONS.beginSession,
    handler: beginSession,
  },
  { method: 'GET', path: '/session', role: 'viewer', operation: OPERATIONS.readSession, handler: readSession },
  { method: 'DELETE', path: '/session', role: 'viewer', operation: OPERATIONS.endSession, handler: endSession },
  { method: 'DELETE', path: '/sessions', role: 'admin', operation: OPERATIONS.endSessions, handler: endSessions },
  { method: 'GET', path: VIEWERS, role: 'admin', operation: OPERATIONS.listViewers, handler: listViewers },
  {
    method: 'POST',
    path: VIEWERS,
    role: 'admin',
    body: NEW_VIEWER,
    operation: OPERATIONS.createViewer,
    handler: createViewer,
  },
  {
    method: 'DELETE',
    path: `${VIEWERS}/{viewer_id}`,
    role: 'admin',
    operation: OPERATIONS.removeViewer,
    handler: removeViewer,
  },
];

import type { AdminRoute } from './http/admin-route.ts';
import { REPORT_ROUTES } from './report-routes.ts';
import { SAVED_ROUTES } from './saved-routes.ts';
import { SESSION_ROUTES } from './session-routes.ts';
import { SITE_ROUTES } from './site-routes.ts';
import { SYSTEM_ROUTES } from './system-routes.ts';

export const ADMIN_PREFIX = '/api/admin';

/**
 * All routes of the admin API. Their paths are relative to /api/admin. This table also determines who may call a route, the answers with status 405,
 * the validation of bodies, the limits of their size, and the OpenAPI document.
 */
export const ADMIN_ROUTES: readonly AdminRoute[] = [
  ...SITE_ROUTES,
  ...REPORT_ROUTES,
  ...SAVED_ROUTES,
  ...SYSTEM_ROUTES,
  ...SESSION_ROUTES,
];

import type { Viewer } from '@weir/domain/registry/viewer';
import type { Session } from './session-text.ts';

/**
 * Who may call a route of the admin API. `admin`: only the admin. `viewer`: the admin, and the viewers of the site in the path of the
 * route (if the path has no site: all viewers). `anyone`: no credentials are needed.
 */
export type Role = 'admin' | 'viewer' | 'anyone';

export interface Caller {
  /** The viewer. Undefined for the admin. */
  readonly viewer: Viewer | undefined;
  /** The session of the cookie. Undefined if the request has a token instead of a cookie. */
  readonly session: Session | undefined;
}

/** Whether the caller may use a route. `siteId`: the site in the path; undefined if the path has none. */
export function isAllowed({ viewer }: Caller, role: Role, siteId: string | undefined): boolean {
  if (viewer === undefined || role === 'anyone') return true;
  return role === 'viewer' && (siteId === undefined || siteId === viewer.siteId);
}

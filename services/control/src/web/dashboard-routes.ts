import type { Router } from 'express';
import { methodNotAllowed } from '../http/admin-route.ts';
import { DASHBOARD_PAGE } from './dashboard-page.ts';
import { DASHBOARD_SCRIPT } from './dashboard-script.ts';
import { DASHBOARD_STYLE } from './dashboard-style.ts';

const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-cache',
};

/**
 * Serves the dashboard. Its files are texts in the program, so that the bundle and the sources serve the same content. It uses
 * no cookies.
 */
export function dashboardRoutes(router: Router): void {
  const files = [
    ['/', 'text/html', DASHBOARD_PAGE],
    ['/dashboard', 'text/html', DASHBOARD_PAGE],
    ['/dashboard/dashboard.js', 'text/javascript', DASHBOARD_SCRIPT],
    ['/dashboard/dashboard.css', 'text/css', DASHBOARD_STYLE],
  ] as const;
  for (const [path, type, text] of files) {
    const route = router.route(path);
    route.get((_request, response) => {
      response.set(HEADERS).type(type).send(text);
    });
    route.all(methodNotAllowed('GET, HEAD'));
  }
}

import type { Request, Response, Router } from 'express';
import { sendError } from '../http/admin-reply.ts';
import { methodNotAllowed } from '../http/admin-route.ts';
import { type DashboardFile, ENCODINGS, type Encoding, readDashboardFiles } from './dashboard-files.ts';

const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};
const METHODS = 'GET, HEAD';
const PAGE = '/index.html';

/**
 * Serves the built dashboard below /dashboard, and redirects / to /dashboard. The dashboard is a single-page application: a path that is not a file
 * gets `index.html`, except below /dashboard/assets/, where it gets 404. All files are in memory, so a path of a request never reaches the file
 * system. Serves nothing if the dashboard was not built.
 */
export function dashboardRoutes(router: Router, folder: string): void {
  const files = readDashboardFiles(folder);
  const page = files.get(PAGE);
  if (page === undefined) return;
  const notAllowed = methodNotAllowed(METHODS);
  const root = router.route('/');
  root.get((_request, response) => response.set({ ...HEADERS, 'Cache-Control': 'no-cache' }).redirect('/dashboard'));
  root.all(notAllowed);
  router.use('/dashboard', (request, response, next) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return notAllowed(request, response, next);
    const file = files.get(request.path);
    response.set(HEADERS);
    if (file === undefined && request.path.startsWith('/assets/')) return sendError(response, 404, 'no such path');
    return sendFile(request, response, file ?? page);
  });
}

function sendFile(request: Request, response: Response, file: DashboardFile): void {
  response.set(file.headers);
  if (request.fresh) {
    response.status(304).end();
    return;
  }
  const known = Object.keys(ENCODINGS) as Encoding[];
  const encoding = known.find((name) => file.compressed[name] && request.acceptsEncodings(name) === name);
  if (encoding !== undefined) response.set('Content-Encoding', encoding);
  const body = (encoding && file.compressed[encoding]) ?? file.plain;
  response.set('Content-Length', String(body.length)).end(body);
}

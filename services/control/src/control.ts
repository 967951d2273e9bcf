import express, { type ErrorRequestHandler, type Router } from 'express';
import { authenticateAdmin } from './authenticate-admin.ts';
import type { ControlDeps } from './control-deps.ts';
import { auditRoutes } from './routes/audit.ts';
import { breakdownRoutes } from './routes/breakdown.ts';
import { exclusionRoutes } from './routes/exclusions.ts';
import { importRoutes } from './routes/imports.ts';
import { keyRoutes } from './routes/keys.ts';
import { pipelineRoutes } from './routes/pipeline.ts';
import { siteRoutes } from './routes/sites.ts';
import { sqlRoutes } from './routes/sql.ts';
import { statsRoutes } from './routes/stats.ts';
import { unlinkRoutes } from './routes/unlink.ts';
import { whoamiRoutes } from './routes/whoami.ts';
import { sendError } from './send.ts';
import { createSerial } from './serial.ts';
import { dashboardRoutes } from './web/dashboard-routes.ts';

export interface Control {
  /** To be mounted at the root: serves /api/admin/… and /dashboard, and passes everything else on. */
  readonly router: Router;
}

export function createControl(deps: ControlDeps): Control {
  const serial = createSerial();
  const admin = express.Router({ caseSensitive: true });
  admin.use((_request, response, next) => {
    response.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
    next();
  });
  admin.use(authenticateAdmin(deps));
  siteRoutes(admin, deps, serial);
  keyRoutes(admin, deps, serial);
  exclusionRoutes(admin, deps, serial);
  importRoutes(admin, deps, serial);
  unlinkRoutes(admin, deps);
  sqlRoutes(admin, deps);
  pipelineRoutes(admin, deps);
  auditRoutes(admin, deps);
  whoamiRoutes(admin, deps);
  statsRoutes(admin, deps);
  breakdownRoutes(admin, deps);
  admin.use((_request, response) => sendError(response, 404, 'no such path'));
  admin.use(answerBrokenRequest(deps));

  const router = express.Router();
  router.use('/api/admin', admin);
  dashboardRoutes(router);
  return { router };
}

/** What the body parser could not read is the caller's; anything else is ours, and the log has it. */
function answerBrokenRequest(deps: Pick<ControlDeps, 'logger'>): ErrorRequestHandler {
  return (error, request, response, next) => {
    if (response.headersSent) return next(error);
    const status: unknown = error?.status;
    if (error instanceof URIError) return sendError(response, 400, 'the path is malformed');
    if (status === 413) return sendError(response, 413, 'the body is too large');
    if (typeof status === 'number' && status >= 400 && status < 500) {
      return sendError(response, 400, 'the request is malformed: the body must be a JSON object in UTF-8');
    }
    deps.logger.error({ err: error, method: request.method, route: request.route?.path }, 'an admin call failed');
    sendError(response, 500, 'internal error');
  };
}

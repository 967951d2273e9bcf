import { createEventIds } from '@weir/domain/ingest/event-id';
import express, { type ErrorRequestHandler, type Router } from 'express';
import { ADMIN_PREFIX, ADMIN_ROUTES } from './admin-routes.ts';
import type { AdminDeps, ControlDeps } from './control-deps.ts';
import { createExportSlots } from './exports/export-slots.ts';
import { sendError } from './http/admin-reply.ts';
import { mountAdminRoutes } from './http/admin-route.ts';
import { createSiteSlots, createSlots } from './http/call-slots.ts';
import { createImportDesks } from './imports/import-desk.ts';
import { createHiddenCursors } from './live/hidden-cursors.ts';
import { LISTENERS_MAX, LISTENERS_PER_SITE_MAX } from './live/live-route.ts';
import { createLagRate, type LagRate } from './pipeline/lag-rate.ts';
import { createMutex } from './registry/mutex.ts';
import { createDiffRuns } from './replay/diff/diff-runs.ts';
import { createReportQueue, createTurns } from './reports/report-queue.ts';
import { createRespondingTables } from './responding-tables.ts';
import { EXPORTS_MAX } from './routes/export-route.ts';
import { SQL_AT_ONCE } from './routes/sql-route.ts';
import { createSignIn } from './sign-in/sign-in.ts';
import { createSteadyTables } from './steady-tables.ts';
import { dashboardRoutes } from './web/dashboard-routes.ts';

/** Limits the memory. A call that reads records of a topic holds up to 16 MiB, or more if the topic has more than 256 partitions (topic-page.ts). */
const TOPIC_READS_MAX = 8;
/**
 * The limit for calls for records of topics, including those that wait for new records. A waiting call holds no records in memory, but asks the log
 * four times a second for the end of the topic.
 */
const TOPIC_CALLS_MAX = 64;

export interface Control {
  /** A router for the root path. It serves /api/admin/…, and / and /dashboard if the dashboard was built. Other requests go to the next handler. */
  readonly router: Router;
}

export function createControl(deps: ControlDeps): Control {
  const admin = express.Router({ caseSensitive: true });
  admin.use((_request, response, next) => {
    response.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
    next();
  });
  mountAdminRoutes(admin, ADMIN_ROUTES, createAdminDeps(deps));
  admin.use(answerFailure(deps));

  const router = express.Router({ caseSensitive: true });
  router.use(ADMIN_PREFIX, admin);
  dashboardRoutes(router, deps.dashboardDir);
  return { router };
}

function createAdminDeps(deps: ControlDeps): AdminDeps {
  const { analytics: store, ...others } = deps;
  const { clock, randomBytes } = deps;
  const analytics = createRespondingTables(store);
  const tables = createSteadyTables(analytics, clock);
  const lagRates = new Map<string, LagRate>();
  const runExclusive = createMutex();
  const insertsEnd = () => analytics.runningInsertsEnd(deps.shadow.live);
  return {
    ...others,
    tables,
    reportQueue: createReportQueue(clock, deps.reportsAtOnce),
    takeSqlTurn: createTurns(SQL_AT_ONCE, 'SQL statements'),
    takeAuditTurn: createTurns(1, 'audits of reports'),
    runExclusive,
    signIn: createSignIn({ ...deps, runExclusive }),
    insertsEnd,
    runRedrive: createMutex(),
    diffRuns: createDiffRuns(clock),
    runTopicCall: createSlots(TOPIC_CALLS_MAX),
    runTopicRead: createSlots(TOPIC_READS_MAX),
    hiddenCursors: createHiddenCursors(deps),
    runLive: createSiteSlots(LISTENERS_MAX, LISTENERS_PER_SITE_MAX),
    importDesk: createImportDesks({ ...others, tables, insertsEnd }),
    exportedTables: analytics,
    exportSlots: createExportSlots(EXPORTS_MAX),
    newEventId: createEventIds(clock, (bytes) => bytes.set(randomBytes(bytes.length))),
    lagRateOf(topic) {
      const lagRate = lagRates.get(topic) ?? createLagRate(clock);
      lagRates.set(topic, lagRate);
      return lagRate;
    },
  };
}

/** A request that cannot be read gets a 4xx status. All other errors are bugs: they are logged, and answered with 500. */
function answerFailure(deps: Pick<ControlDeps, 'logger'>): ErrorRequestHandler {
  return (error, request, response, next) => {
    if (response.headersSent) return next(error);
    const status: unknown = error?.status;
    if (error instanceof URIError) return sendError(response, 400, 'the path is malformed');
    if (status === 413) return sendError(response, 413, 'the body is too large');
    if (typeof status === 'number' && status >= 400 && status < 500) {
      return sendError(response, 400, 'the request is malformed: the body must be a JSON object in UTF-8');
    }
    deps.logger.error({ err: error, method: request.method, route: request.route?.path }, 'an admin request failed');
    sendError(response, 500, 'internal error');
  };
}

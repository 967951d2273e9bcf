import { createEventIds } from '@weir/domain/ingest/event-id';
import * as BODIES from '@weir/domain/registry/admin-limits';
import express, { type ErrorRequestHandler, type Router } from 'express';
import { NEW_BACKUP, showBackup, startBackup } from './backups/backups-route.ts';
import type { AdminDeps, ControlDeps } from './control-deps.ts';
import { createExportSlots } from './exports/export-slots.ts';
import { sendError } from './http/admin-reply.ts';
import { type AdminRoute, mountAdminRoutes } from './http/admin-route.ts';
import { authenticateAdmin } from './http/authenticate-admin.ts';
import { createImportLeases } from './imports/import-lease.ts';
import { createRestoredRows } from './imports/restored-rows.ts';
import { ADMIN_OPERATIONS as OPERATIONS } from './openapi/admin-operations.ts';
import { BACKUP_OPERATIONS } from './openapi/backup-operations.ts';
import { EXPORT_OPERATION } from './openapi/export-operation.ts';
import { PERSON_OPERATIONS } from './openapi/person-operations.ts';
import { TOPIC_OPERATIONS } from './openapi/topic-operations.ts';
import { createLagRate, type LagRate } from './pipeline/lag-rate.ts';
import { createMutex } from './registry/mutex.ts';
import { diffReplay, dropReplay, readReplay, startReplay, swapReplay, undoReplay } from './replay/replays-route.ts';
import { REPORT_ROUTES } from './report-routes.ts';
import { createReportQueue } from './reports/report-queue.ts';
import { audit } from './routes/audit-route.ts';
import {
  createErasure,
  ERASURE_BYTES_MAX,
  listErasures,
  listTombstones,
  readErasure,
} from './routes/erasures-route.ts';
import { createExclusion, listExclusions, removeExclusion } from './routes/exclusions-route.ts';
import { EXPORTS_MAX, exportSite } from './routes/export-route.ts';
import { createIdentitySecret, removeIdentitySecret } from './routes/identity-secret-route.ts';
import {
  beginImport,
  CHUNK_BYTES_MAX,
  completeImport,
  importChunk,
  listImports,
  releaseImport,
} from './routes/imports-route.ts';
import { createKey, listKeys, revokeKey } from './routes/keys-route.ts';
import { readPerson } from './routes/person-route.ts';
import { pipeline } from './routes/pipeline-route.ts';
import { changeSite, createSite, listSites, readSite, removeSite } from './routes/sites-route.ts';
import { sql } from './routes/sql-route.ts';
import { listTopicRecords, listTopics } from './routes/topics-route.ts';
import { unlinkVisitor } from './routes/unlink-route.ts';
import { whoami } from './routes/whoami-route.ts';
import { createSteadyTables } from './steady-tables.ts';
import { createReadSlots } from './topics/read-slots.ts';
import { dashboardRoutes } from './web/dashboard-routes.ts';

export const ADMIN_PREFIX = '/api/admin';
/** Limits the memory: each call that reads records of a topic holds up to 16 MiB. */
const TOPIC_READS_MAX = 8;
/** The limit for calls that read or wait. A call that waits for a record holds no records, but asks the log for its end four times a second. */
const TOPIC_CALLS_MAX = 64;

const SITE = '/sites/{site_id}';
const REPLAY = '/replays/current';
const IMPORT = `${SITE}/imports/{digest}`;

/**
 * All routes of the admin API, relative to /api/admin. Each needs the admin token. This table also determines the answers with
 * status 405, the validation of bodies, the limits of their size, and the OpenAPI document.
 */
export const ADMIN_ROUTES: readonly AdminRoute[] = [
  { method: 'GET', path: '/sites', operation: OPERATIONS.listSites, handler: listSites },
  { method: 'POST', path: '/sites', body: BODIES.NEW_SITE, operation: OPERATIONS.createSite, handler: createSite },
  { method: 'GET', path: SITE, operation: OPERATIONS.readSite, handler: readSite },
  { method: 'PATCH', path: SITE, body: BODIES.SITE_CHANGE, operation: OPERATIONS.changeSite, handler: changeSite },
  { method: 'DELETE', path: SITE, operation: OPERATIONS.removeSite, handler: removeSite },
  {
    method: 'POST',
    path: `${SITE}/identity-secret`,
    operation: OPERATIONS.createIdentitySecret,
    handler: createIdentitySecret,
  },
  {
    method: 'DELETE',
    path: `${SITE}/identity-secret`,
    operation: OPERATIONS.removeIdentitySecret,
    handler: removeIdentitySecret,
  },
  { method: 'GET', path: `${SITE}/keys`, operation: OPERATIONS.listKeys, handler: listKeys },
  { method: 'POST', path: `${SITE}/keys`, body: BODIES.NEW_KEY, operation: OPERATIONS.createKey, handler: createKey },
  { method: 'DELETE', path: `${SITE}/keys/{key_id}`, operation: OPERATIONS.revokeKey, handler: revokeKey },
  { method: 'GET', path: `${SITE}/exclusions`, operation: OPERATIONS.listExclusions, handler: listExclusions },
  {
    method: 'POST',
    path: `${SITE}/exclusions`,
    body: BODIES.NEW_EXCLUSION,
    operation: OPERATIONS.createExclusion,
    handler: createExclusion,
  },
  {
    method: 'DELETE',
    path: `${SITE}/exclusions/{rule_id}`,
    operation: OPERATIONS.removeExclusion,
    handler: removeExclusion,
  },
  {
    method: 'POST',
    path: `${SITE}/unlink`,
    body: BODIES.UNLINK,
    operation: OPERATIONS.unlinkVisitor,
    handler: unlinkVisitor,
  },
  {
    method: 'POST',
    path: `${SITE}/erasures`,
    body: BODIES.NEW_ERASURE,
    bodyBytesMax: ERASURE_BYTES_MAX,
    operation: PERSON_OPERATIONS.createErasure,
    handler: createErasure,
  },
  { method: 'GET', path: '/erasures', operation: PERSON_OPERATIONS.listErasures, handler: listErasures },
  { method: 'GET', path: '/tombstones', operation: PERSON_OPERATIONS.listTombstones, handler: listTombstones },
  { method: 'GET', path: '/erasures/{erasure_id}', operation: PERSON_OPERATIONS.readErasure, handler: readErasure },
  { method: 'GET', path: `${SITE}/person`, operation: PERSON_OPERATIONS.readPerson, handler: readPerson },
  ...REPORT_ROUTES,
  { method: 'GET', path: `${SITE}/export/{kind}`, operation: EXPORT_OPERATION, handler: exportSite },
  { method: 'POST', path: '/sql', body: BODIES.SQL_QUERY, operation: OPERATIONS.sql, handler: sql },
  { method: 'GET', path: '/pipeline', operation: OPERATIONS.pipeline, handler: pipeline },
  { method: 'GET', path: '/audit', operation: OPERATIONS.audit, handler: audit },
  {
    method: 'POST',
    path: '/backups',
    body: NEW_BACKUP,
    operation: BACKUP_OPERATIONS.startBackup,
    handler: startBackup,
  },
  { method: 'GET', path: '/backups/current', operation: BACKUP_OPERATIONS.showBackup, handler: showBackup },
  { method: 'GET', path: '/topics', operation: TOPIC_OPERATIONS.listTopics, handler: listTopics },
  {
    method: 'GET',
    path: '/topics/{topic}/records',
    operation: TOPIC_OPERATIONS.listTopicRecords,
    handler: listTopicRecords,
  },
  {
    method: 'POST',
    path: '/replays',
    body: BODIES.NEW_REPLAY,
    operation: OPERATIONS.startReplay,
    handler: startReplay,
  },
  { method: 'GET', path: REPLAY, operation: OPERATIONS.readReplay, handler: readReplay },
  { method: 'GET', path: `${REPLAY}/diff`, operation: OPERATIONS.diffReplay, handler: diffReplay },
  { method: 'POST', path: `${REPLAY}/swap`, operation: OPERATIONS.swapReplay, handler: swapReplay },
  { method: 'POST', path: `${REPLAY}/undo`, operation: OPERATIONS.undoReplay, handler: undoReplay },
  { method: 'DELETE', path: REPLAY, operation: OPERATIONS.dropReplay, handler: dropReplay },
  { method: 'GET', path: '/whoami', operation: OPERATIONS.whoami, handler: whoami },
  { method: 'GET', path: `${SITE}/imports`, operation: OPERATIONS.listImports, handler: listImports },
  {
    method: 'POST',
    path: `${SITE}/imports`,
    body: BODIES.NEW_IMPORT,
    operation: OPERATIONS.beginImport,
    handler: beginImport,
  },
  {
    method: 'POST',
    path: `${IMPORT}/chunks`,
    body: BODIES.IMPORT_CHUNK,
    bodyBytesMax: CHUNK_BYTES_MAX,
    operation: OPERATIONS.importChunk,
    handler: importChunk,
  },
  {
    method: 'POST',
    path: `${IMPORT}/finish`,
    body: BODIES.IMPORT_FINISH,
    operation: OPERATIONS.finishImport,
    handler: completeImport,
  },
  {
    method: 'POST',
    path: `${IMPORT}/release`,
    body: BODIES.IMPORT_RELEASE,
    operation: OPERATIONS.releaseImport,
    handler: releaseImport,
  },
];

export interface Control {
  /** A router for the root path. It serves /api/admin/… and /dashboard, and passes all other requests on. */
  readonly router: Router;
}

export function createControl(deps: ControlDeps): Control {
  const admin = express.Router({ caseSensitive: true });
  admin.use((_request, response, next) => {
    response.set({ 'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff' });
    next();
  });
  admin.use(authenticateAdmin(deps));
  mountAdminRoutes(admin, ADMIN_ROUTES, createAdminDeps(deps));
  admin.use((_request, response) => sendError(response, 404, 'no such path'));
  admin.use(answerFailure(deps));

  const router = express.Router({ caseSensitive: true });
  router.use(ADMIN_PREFIX, admin);
  dashboardRoutes(router, deps.dashboardDir);
  return { router };
}

function createAdminDeps(deps: ControlDeps): AdminDeps {
  const { analytics, ...others } = deps;
  const tables = createSteadyTables(analytics);
  const { clock, randomBytes } = deps;
  const lagRates = new Map<string, LagRate>();
  return {
    ...others,
    tables,
    reportQueue: createReportQueue(clock),
    runExclusive: createMutex(),
    importLeases: createImportLeases(clock),
    runTopicCall: createReadSlots(TOPIC_CALLS_MAX),
    runTopicRead: createReadSlots(TOPIC_READS_MAX),
    restoredRows: createRestoredRows({ ...others, tables }),
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

import * as BODIES from '@weir/domain/registry/admin-limits';
import { NEW_BACKUP, showBackup, startBackup } from './backups/backups-route.ts';
import { listDeadLetters, REDRIVE, redriveDeadLetters, showDeadLetter } from './dead-letters/dead-letters-route.ts';
import type { AdminRoute } from './http/admin-route.ts';
import { ADMIN_OPERATIONS as OPERATIONS } from './openapi/admin-operations.ts';
import { BACKUP_OPERATIONS } from './openapi/backup-operations.ts';
import { DEAD_LETTER_OPERATIONS } from './openapi/dead-letter-operations.ts';
import { INSTALLATION_OPERATIONS } from './openapi/installation-operations.ts';
import { PERSON_OPERATIONS } from './openapi/person-operations.ts';
import { TOPIC_OPERATIONS } from './openapi/topic-operations.ts';
import { showInstallation } from './pipeline/installation-route.ts';
import { listMinuteBooks } from './pipeline/minute-books-route.ts';
import { diffReplay, dropReplay, readReplay, startReplay, swapReplay, undoReplay } from './replay/replays-route.ts';
import { auditReports } from './routes/audit-reports-route.ts';
import { audit } from './routes/audit-route.ts';
import { listErasures, listTombstones, readErasure } from './routes/erasures-route.ts';
import { pipeline } from './routes/pipeline-route.ts';
import { sql } from './routes/sql-route.ts';
import { listTopicRecords, listTopics } from './routes/topics-route.ts';
import { whoami } from './routes/whoami-route.ts';

const REPLAY = '/replays/current';

/** The routes of the whole installation, relative to /api/admin. */
export const SYSTEM_ROUTES: readonly AdminRoute[] = [
  { method: 'GET', path: '/erasures', role: 'admin', operation: PERSON_OPERATIONS.listErasures, handler: listErasures },
  {
    method: 'GET',
    path: '/tombstones',
    role: 'admin',
    operation: PERSON_OPERATIONS.listTombstones,
    handler: listTombstones,
  },
  {
    method: 'GET',
    path: '/erasures/{erasure_id}',
    role: 'admin',
    operation: PERSON_OPERATIONS.readErasure,
    handler: readErasure,
  },
  { method: 'POST', path: '/sql', role: 'admin', body: BODIES.SQL_QUERY, operation: OPERATIONS.sql, handler: sql },
  { method: 'GET', path: '/pipeline', role: 'admin', operation: OPERATIONS.pipeline, handler: pipeline },
  { method: 'GET', path: '/audit', role: 'admin', operation: OPERATIONS.audit, handler: audit },
  {
    method: 'GET',
    path: '/audit/minutes',
    role: 'admin',
    operation: INSTALLATION_OPERATIONS.listMinuteBooks,
    isReport: true,
    sharedMs: 10_000,
    handler: listMinuteBooks,
  },
  {
    method: 'GET',
    path: '/audit/reports',
    role: 'admin',
    operation: INSTALLATION_OPERATIONS.auditReports,
    handler: auditReports,
  },
  {
    method: 'GET',
    path: '/installation',
    role: 'admin',
    operation: INSTALLATION_OPERATIONS.showInstallation,
    handler: showInstallation,
  },
  {
    method: 'GET',
    path: '/dead-letters',
    role: 'admin',
    operation: DEAD_LETTER_OPERATIONS.listDeadLetters,
    handler: listDeadLetters,
  },
  {
    method: 'POST',
    path: '/dead-letters/redrive',
    role: 'admin',
    body: REDRIVE,
    operation: DEAD_LETTER_OPERATIONS.redriveDeadLetters,
    handler: redriveDeadLetters,
  },
  {
    method: 'GET',
    path: '/dead-letters/{letter_id}',
    role: 'admin',
    operation: DEAD_LETTER_OPERATIONS.showDeadLetter,
    handler: showDeadLetter,
  },
  {
    method: 'POST',
    path: '/backups',
    role: 'admin',
    body: NEW_BACKUP,
    operation: BACKUP_OPERATIONS.startBackup,
    handler: startBackup,
  },
  {
    method: 'GET',
    path: '/backups/current',
    role: 'admin',
    operation: BACKUP_OPERATIONS.showBackup,
    handler: showBackup,
  },
  { method: 'GET', path: '/topics', role: 'admin', operation: TOPIC_OPERATIONS.listTopics, handler: listTopics },
  {
    method: 'GET',
    path: '/topics/{topic}/records',
    role: 'admin',
    operation: TOPIC_OPERATIONS.listTopicRecords,
    handler: listTopicRecords,
  },
  {
    method: 'POST',
    path: '/replays',
    role: 'admin',
    body: BODIES.NEW_REPLAY,
    operation: OPERATIONS.startReplay,
    handler: startReplay,
  },
  { method: 'GET', path: REPLAY, role: 'admin', operation: OPERATIONS.readReplay, handler: readReplay },
  { method: 'GET', path: `${REPLAY}/diff`, role: 'admin', operation: OPERATIONS.diffReplay, handler: diffReplay },
  { method: 'POST', path: `${REPLAY}/swap`, role: 'admin', operation: OPERATIONS.swapReplay, handler: swapReplay },
  { method: 'POST', path: `${REPLAY}/undo`, role: 'admin', operation: OPERATIONS.undoReplay, handler: undoReplay },
  { method: 'DELETE', path: REPLAY, role: 'admin', operation: OPERATIONS.dropReplay, handler: dropReplay },
  { method: 'GET', path: '/whoami', role: 'admin', operation: OPERATIONS.whoami, handler: whoami },
];

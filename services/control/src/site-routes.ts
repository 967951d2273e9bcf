import * as BODIES from '@weir/domain/registry/admin-limits';
import { testExclusions } from './exclusions/exclusion-test-route.ts';
import { createExclusion, listExclusions, removeExclusion } from './exclusions/exclusions-route.ts';
import type { AdminRoute } from './http/admin-route.ts';
import { live } from './live/live-route.ts';
import { LIVE_OPERATION } from './openapi/access/live-operation.ts';
import { PEOPLE_OPERATIONS } from './openapi/access/people-operations.ts';
import { ADMIN_OPERATIONS as OPERATIONS } from './openapi/admin-operations.ts';
import { EXPORT_OPERATION } from './openapi/export-operation.ts';
import { PERSON_OPERATIONS } from './openapi/person-operations.ts';
import { readTimeline, searchPeople } from './people/people-route.ts';
import { createErasure, ERASURE_BYTES_MAX } from './routes/erasures-route.ts';
import { exportSite } from './routes/export-route.ts';
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
import { changeSite, createSite, listSites, readSite, removeSite } from './routes/sites-route.ts';
import { unlinkVisitor } from './routes/unlink-route.ts';

const SITE = '/sites/{site_id}';
const IMPORT = `${SITE}/imports/{digest}`;

/** The routes of sites and of their people, relative to /api/admin. */
export const SITE_ROUTES: readonly AdminRoute[] = [
  {
    method: 'POST',
    path: `${SITE}/people/search`,
    role: 'admin',
    body: BODIES.PEOPLE_SEARCH,
    operation: PEOPLE_OPERATIONS.searchPeople,
    isReport: true,
    handler: searchPeople,
  },
  {
    method: 'POST',
    path: `${SITE}/people/timeline`,
    role: 'admin',
    body: BODIES.PERSON,
    operation: PEOPLE_OPERATIONS.readTimeline,
    isReport: true,
    handler: readTimeline,
  },
  {
    method: 'POST',
    path: `${SITE}/exclusions/test`,
    role: 'admin',
    body: BODIES.TESTED_HIT,
    operation: OPERATIONS.testExclusions,
    handler: testExclusions,
  },
  { method: 'GET', path: `${SITE}/live`, role: 'viewer', operation: LIVE_OPERATION, handler: live },
  { method: 'GET', path: '/sites', role: 'admin', operation: OPERATIONS.listSites, handler: listSites },
  {
    method: 'POST',
    path: '/sites',
    role: 'admin',
    body: BODIES.NEW_SITE,
    operation: OPERATIONS.createSite,
    handler: createSite,
  },
  { method: 'GET', path: SITE, role: 'admin', operation: OPERATIONS.readSite, handler: readSite },
  {
    method: 'PATCH',
    path: SITE,
    role: 'admin',
    body: BODIES.SITE_CHANGE,
    operation: OPERATIONS.changeSite,
    handler: changeSite,
  },
  { method: 'DELETE', path: SITE, role: 'admin', operation: OPERATIONS.removeSite, handler: removeSite },
  {
    method: 'POST',
    path: `${SITE}/identity-secret`,
    role: 'admin',
    operation: OPERATIONS.createIdentitySecret,
    handler: createIdentitySecret,
  },
  {
    method: 'DELETE',
    path: `${SITE}/identity-secret`,
    role: 'admin',
    operation: OPERATIONS.removeIdentitySecret,
    handler: removeIdentitySecret,
  },
  { method: 'GET', path: `${SITE}/keys`, role: 'admin', operation: OPERATIONS.listKeys, handler: listKeys },
  {
    method: 'POST',
    path: `${SITE}/keys`,
    role: 'admin',
    body: BODIES.NEW_KEY,
    operation: OPERATIONS.createKey,
    handler: createKey,
  },
  {
    method: 'DELETE',
    path: `${SITE}/keys/{key_id}`,
    role: 'admin',
    operation: OPERATIONS.revokeKey,
    handler: revokeKey,
  },
  {
    method: 'GET',
    path: `${SITE}/exclusions`,
    role: 'admin',
    operation: OPERATIONS.listExclusions,
    handler: listExclusions,
  },
  {
    method: 'POST',
    path: `${SITE}/exclusions`,
    role: 'admin',
    body: BODIES.NEW_EXCLUSION,
    operation: OPERATIONS.createExclusion,
    handler: createExclusion,
  },
  {
    method: 'DELETE',
    path: `${SITE}/exclusions/{rule_id}`,
    role: 'admin',
    operation: OPERATIONS.removeExclusion,
    handler: removeExclusion,
  },
  {
    method: 'POST',
    path: `${SITE}/unlink`,
    role: 'admin',
    body: BODIES.UNLINK,
    operation: OPERATIONS.unlinkVisitor,
    handler: unlinkVisitor,
  },
  {
    method: 'POST',
    path: `${SITE}/erasures`,
    role: 'admin',
    body: BODIES.NEW_ERASURE,
    bodyBytesMax: ERASURE_BYTES_MAX,
    operation: PERSON_OPERATIONS.createErasure,
    handler: createErasure,
  },
  {
    method: 'GET',
    path: `${SITE}/person`,
    role: 'admin',
    operation: PERSON_OPERATIONS.readPerson,
    handler: readPerson,
  },
  { method: 'GET', path: `${SITE}/export/{kind}`, role: 'admin', operation: EXPORT_OPERATION, handler: exportSite },
  { method: 'GET', path: `${SITE}/imports`, role: 'admin', operation: OPERATIONS.listImports, handler: listImports },
  {
    method: 'POST',
    path: `${SITE}/imports`,
    role: 'admin',
    body: BODIES.NEW_IMPORT,
    operation: OPERATIONS.beginImport,
    handler: beginImport,
  },
  {
    method: 'POST',
    path: `${IMPORT}/chunks`,
    role: 'admin',
    body: BODIES.IMPORT_CHUNK,
    bodyBytesMax: CHUNK_BYTES_MAX,
    operation: OPERATIONS.importChunk,
    handler: importChunk,
  },
  {
    method: 'POST',
    path: `${IMPORT}/finish`,
    role: 'admin',
    body: BODIES.IMPORT_FINISH,
    operation: OPERATIONS.finishImport,
    handler: completeImport,
  },
  {
    method: 'POST',
    path: `${IMPORT}/release`,
    role: 'admin',
    body: BODIES.IMPORT_RELEASE,
    operation: OPERATIONS.releaseImport,
    handler: releaseImport,
  },
];

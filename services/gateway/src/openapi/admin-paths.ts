import { IMPORT_CHUNK, IMPORT_FINISH, IMPORT_RELEASE, NEW_IMPORT, SQL_QUERY, UNLINK } from '@weir/domain/admin-schemas';
import type { Schema } from './request-schemas.ts';
import { body, ENVELOPE, json, object, reference, success, text } from './responses.ts';

const COMMON: Schema = {
  400: json('Malformed, or a field broke a rule.', ENVELOPE),
  401: json('Missing or wrong admin token.', ENVELOPE),
  405: json('Another method.', ENVELOPE),
  413: json('The body is too large.', ENVELOPE),
  503: json('A part of Weir is away: send it again.', ENVELOPE),
};
export const NOT_FOUND: Schema = { 404: json('No such site, key or rule.', ENVELOPE) };
const TAKEN: Schema = { 409: json('Taken, or as many as there may be.', ENVELOPE) };

export function call(operationId: string, summary: string, responses: Schema, request?: Schema): Schema {
  return {
    operationId,
    tags: ['admin'],
    summary,
    security: [{ adminToken: [] }],
    ...(request === undefined ? {} : { requestBody: body(request) }),
    responses: { ...responses, ...COMMON },
  };
}

function one(name: string): Schema {
  return success(reference(name));
}
function list(name: string): Schema {
  return success({ type: 'array', items: reference(name) });
}
export function inPath(...names: string[]): Schema[] {
  return names.map((name) => ({ name, in: 'path', required: true, schema: text }));
}
const removed = { 200: json('Removed.', success({ type: 'object' })), ...NOT_FOUND };

export const ADMIN_PATHS: Readonly<Record<string, Schema>> = {
  '/api/admin/sites': {
    get: call('listSites', 'All sites', { 200: json('The sites.', list('Site')) }),
    post: call(
      'createSite',
      'Make a site; site_id is made when not given',
      { 201: json('The site.', one('Site')), ...TAKEN },
      reference('NewSite'),
    ),
  },
  '/api/admin/sites/{site_id}': {
    parameters: inPath('site_id'),
    get: call('readSite', 'One site', { 200: json('The site.', one('Site')), ...NOT_FOUND }),
    patch: call(
      'changeSite',
      'Change name, domain, timezone or limits; what is not sent stays',
      { 200: json('The site.', one('Site')), ...NOT_FOUND },
      reference('SiteChange'),
    ),
    delete: call('removeSite', 'Remove a site with its keys and rules', removed),
  },
  '/api/admin/sites/{site_id}/keys': {
    parameters: inPath('site_id'),
    get: call('listKeys', 'The keys of a site, never the plain key', {
      200: json('The keys.', list('ApiKey')),
      ...NOT_FOUND,
    }),
    post: call(
      'createKey',
      'Make a key; it is shown this once',
      { 201: json('The key.', one('NewApiKey')), ...NOT_FOUND, ...TAKEN },
      reference('KeyRequest'),
    ),
  },
  '/api/admin/sites/{site_id}/keys/{key_id}': {
    parameters: inPath('site_id', 'key_id'),
    delete: call('revokeKey', 'Revoke a key: 401 within a second on every gateway', removed),
  },
  '/api/admin/sites/{site_id}/exclusions': {
    parameters: inPath('site_id'),
    get: call('listExclusions', 'The exclusion rules of a site', {
      200: json('The rules.', list('ExclusionRule')),
      ...NOT_FOUND,
    }),
    post: call(
      'createExclusion',
      'Add an exclusion rule; in force within a second',
      { 201: json('The rule.', one('ExclusionRule')), ...NOT_FOUND, ...TAKEN },
      reference('NewExclusionRule'),
    ),
  },
  '/api/admin/sites/{site_id}/exclusions/{rule_id}': {
    parameters: inPath('site_id', 'rule_id'),
    delete: call('removeExclusion', 'Remove an exclusion rule', removed),
  },
  '/api/admin/sites/{site_id}/unlink': {
    parameters: inPath('site_id'),
    post: call(
      'unlinkVisitor',
      'Take a visitor away from a user: what identifies said of the two before counts no more',
      {
        200: json(
          'Unlinked; shows within seconds. Without user_id it is the user that the visitor belongs to now.',
          success(
            object({ visitor_id: text, user_id: text, profile_id: text, unlinked: { type: 'boolean' } }, [
              'visitor_id',
              'user_id',
              'profile_id',
              'unlinked',
            ]),
          ),
        ),
        ...NOT_FOUND,
      },
      UNLINK,
    ),
  },
  '/api/admin/sql': {
    post: call(
      'sql',
      'Read-only SQL on the analytics store: up to 100,000 rows',
      { 200: json('Columns and rows.', one('SqlResult')) },
      SQL_QUERY,
    ),
  },
  '/api/admin/pipeline': {
    get: call('pipeline', 'Lag, rate, last error and dead letters, per topic and consumer', {
      200: json('The consumers.', success({ type: ['object', 'array'] })),
    }),
  },
  '/api/admin/whoami': {
    get: call('whoami', 'Whom Weir takes the asker for, by which header, and what may be wrong with the proxies', {
      200: json('The request itself, and sites most of whose hits come from one network.', one('Whoami')),
    }),
  },
  '/api/admin/audit': {
    get: call('audit', 'Whether every raw record has exactly one outcome, and what became of them', {
      200: json('The books.', success(object({ balanced: { type: 'boolean' } }, ['balanced']))),
    }),
  },
  '/api/admin/sites/{site_id}/imports': {
    parameters: inPath('site_id'),
    get: call('listImports', 'How far each imported file went', {
      200: json('The ledger.', success({ type: 'array', items: { type: 'object' } })),
      ...NOT_FOUND,
    }),
    post: call(
      'beginImport',
      'Begin or go on with the import of a file; the lease is null where it was finished before',
      { 200: json('The ledger entry and a lease.', success({ type: 'object' })), ...NOT_FOUND, ...TAKEN },
      NEW_IMPORT,
    ),
  },
  '/api/admin/sites/{site_id}/imports/{digest}/chunks': {
    parameters: inPath('site_id', 'digest'),
    post: call(
      'importChunk',
      'Append the hits of a run of lines; the same chunk again adds nothing',
      { 200: json('The ledger entry.', success({ type: 'object' })), ...NOT_FOUND, ...TAKEN },
      IMPORT_CHUNK,
    ),
  },
  '/api/admin/sites/{site_id}/imports/{digest}/finish': {
    parameters: inPath('site_id', 'digest'),
    post: call(
      'finishImport',
      'All lines are done; waits a while until the rows can be queried',
      { 200: json('The ledger entry.', success({ type: 'object' })), ...NOT_FOUND, ...TAKEN },
      IMPORT_FINISH,
    ),
  },
  '/api/admin/sites/{site_id}/imports/{digest}/release': {
    parameters: inPath('site_id', 'digest'),
    post: call(
      'releaseImport',
      'Let go of an import that is to go on later',
      { 200: json('The ledger entry.', success({ type: 'object' })), ...NOT_FOUND },
      IMPORT_RELEASE,
    ),
  },
};

import {
  ENVELOPE,
  jsonResponse,
  object,
  RETRY_AFTER,
  type Schema,
  schemaRef,
  successBody,
  text,
} from '@weir/runtime/http/openapi';
import { LIMIT_MAX } from '../reports/read-query.ts';
import { AUDIT, CONSUMER, IMPORT_PROGRESS } from './schemas/status-schemas.ts';

/** The texts of the OpenAPI document for a route. Everything else in the document follows from the route itself. */
export interface AdminOperation {
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Schema[];
  /** The schema of the body, if it has more constraints than the schema of the route. */
  readonly request?: Schema;
  /** The responses by status. */
  readonly responses: Schema;
}

export const NOT_FOUND: Schema = { 404: jsonResponse('No such site, key, rule, goal or import.', ENVELOPE) };
const NO_REPLAY: Schema = { 404: jsonResponse('There is no replay.', ENVELOPE) };
const CONFLICT: Schema = { 409: jsonResponse('It exists already, or the maximum number is reached.', ENVELOPE) };
const REMOVED: Schema = { 200: jsonResponse('Removed.', successBody({ type: 'object' })), ...NOT_FOUND };
const IMPORT: Schema = { 200: jsonResponse('The import.', successBody({ type: 'object' })), ...NOT_FOUND };

function one(status: 200 | 201, description: string, name: string): Schema {
  return { [status]: jsonResponse(description, successBody(schemaRef(name))) };
}

function list(description: string, items: Schema): Schema {
  return { 200: jsonResponse(description, successBody({ type: 'array', items })) };
}

export const ADMIN_OPERATIONS = {
  listSites: { id: 'listSites', summary: 'All sites', responses: list('The sites.', schemaRef('Site')) },
  createSite: {
    id: 'createSite',
    summary: 'Create a site; without site_id, Weir creates the ID',
    request: schemaRef('NewSite'),
    responses: {
      ...one(201, 'The site.', 'Site'),
      409: jsonResponse(
        'The site exists already, a removed site with this ID is still being erased, or the maximum number of sites is reached.',
        ENVELOPE,
      ),
    },
  },
  readSite: { id: 'readSite', summary: 'One site', responses: { ...one(200, 'The site.', 'Site'), ...NOT_FOUND } },
  changeSite: {
    id: 'changeSite',
    summary: 'Change fields of a site; fields that are not sent stay',
    request: schemaRef('SiteChange'),
    responses: {
      ...one(200, 'The site.', 'Site'),
      ...NOT_FOUND,
      409: jsonResponse(
        'The change requires signatures, but the site has no identity secret. Or: `keep` cannot change while a replay runs.',
        ENVELOPE,
      ),
    },
  },
  removeSite: {
    id: 'removeSite',
    summary: 'Remove a site, its keys and its rules, and erase its records',
    responses: {
      200: jsonResponse(
        'Removed. The erasure of the records has begun.',
        successBody(object({ site_id: text, removed: { type: 'boolean' }, erasure_id: text })),
      ),
      ...NOT_FOUND,
      409: jsonResponse('Too many erasures wait.', ENVELOPE),
    },
  },
  createIdentitySecret: {
    id: 'createIdentitySecret',
    summary: 'Create the identity secret of a site; it replaces the old secret and is shown once',
    responses: { ...one(201, 'The secret.', 'IdentitySecret'), ...NOT_FOUND },
  },
  removeIdentitySecret: {
    id: 'removeIdentitySecret',
    summary: 'Remove the identity secret of a site',
    responses: { ...REMOVED, 409: jsonResponse('The site requires signatures.', ENVELOPE) },
  },
  listKeys: {
    id: 'listKeys',
    summary: 'The API keys of a site, without the plain key',
    responses: { ...list('The keys.', schemaRef('ApiKey')), ...NOT_FOUND },
  },
  createKey: {
    id: 'createKey',
    summary: 'Create an API key; it is shown once',
    request: schemaRef('KeyRequest'),
    responses: { ...one(201, 'The key.', 'NewApiKey'), ...NOT_FOUND, ...CONFLICT },
  },
  revokeKey: {
    id: 'revokeKey',
    summary: 'Revoke an API key: it gets 401 within a second on every gateway',
    responses: REMOVED,
  },
  listExclusions: {
    id: 'listExclusions',
    summary: 'The exclusion rules of a site',
    responses: { ...list('The rules.', schemaRef('ExclusionRule')), ...NOT_FOUND },
  },
  createExclusion: {
    id: 'createExclusion',
    summary: 'Add an exclusion rule; in force within a second',
    request: schemaRef('NewExclusionRule'),
    responses: {
      ...one(201, 'The rule.', 'ExclusionRule'),
      ...NOT_FOUND,
      409: jsonResponse(
        'The site has this rule, in any spelling, or the limit of the number of rules is reached.',
        ENVELOPE,
      ),
    },
  },
  testExclusions: {
    id: 'testExclusions',
    summary: 'Which exclusion rule would drop a hit; nothing is stored',
    responses: {
      200: jsonResponse('The rule.', successBody(schemaRef('ExclusionTest'))),
      ...NOT_FOUND,
    },
  },
  removeExclusion: { id: 'removeExclusion', summary: 'Remove an exclusion rule', responses: REMOVED },
  unlinkVisitor: {
    id: 'unlinkVisitor',
    summary: 'Detach a visitor from a user: undoes the earlier identifies of the two',
    responses: {
      200: jsonResponse(
        'Unlinked; visible within seconds. Without user_id, the user is the one that the visitor is linked to now.',
        successBody(object({ visitor_id: text, user_id: text, profile_id: text, unlinked: { type: 'boolean' } })),
      ),
      ...NOT_FOUND,
    },
  },
  sql: {
    id: 'sql',
    summary: 'Run one read-only SQL statement; up to 100,000 rows',
    request: schemaRef('SqlRequest'),
    responses: one(200, 'Columns and rows.', 'SqlResult'),
  },
  pipeline: {
    id: 'pipeline',
    summary: 'Lag, rate, last error and dead letters, for each topic and consumer',
    responses: list('The consumers.', CONSUMER),
  },
  audit: {
    id: 'audit',
    summary: 'Whether each raw record has exactly one outcome, and the counts of the outcomes',
    parameters: [
      {
        name: 'since',
        in: 'query',
        description:
          'A duration before now (2h) or a time: compare only the raw records from the last checkpoint before this time on.',
        schema: { type: 'string' },
      },
    ],
    responses: {
      200: jsonResponse('The books.', successBody(AUDIT)),
    },
  },
  startReplay: {
    id: 'startReplay',
    summary: 'Start a replay: fill shadow tables from the log again; with dry_run, only count the records',
    responses: {
      200: jsonResponse('What the replay would do (dry_run).', successBody(schemaRef('ReplayPlan'))),
      ...one(201, 'The replay.', 'Replay'),
      ...NOT_FOUND,
      409: jsonResponse(
        'There is a replay, an erasure, a removal of expired rows, or an archive that the replay cannot use.',
        ENVELOPE,
      ),
    },
  },
  readReplay: {
    id: 'readReplay',
    summary: 'The replay: its phase and progress',
    responses: { ...one(200, 'The replay.', 'Replay'), ...NO_REPLAY },
  },
  diffReplay: {
    id: 'diffReplay',
    summary: 'How the shadow tables differ from the live tables: counts by day, and values whose counts changed',
    parameters: [
      {
        name: 'limit',
        in: 'query',
        description: 'The number of changed values for each column; default 20.',
        schema: { type: 'integer', minimum: 1, maximum: LIMIT_MAX },
      },
    ],
    responses: {
      ...one(200, 'The differences.', 'ReplayDiff'),
      202: jsonResponse(
        'The diff takes longer: it continues for a minute. Send the request again for its result.',
        successBody(
          object({
            steps_done: { type: 'integer' },
            steps: { type: 'integer', description: 'All steps of the diff.' },
          }),
        ),
      ),
      ...NO_REPLAY,
      409: jsonResponse(
        'The shadow tables do not have all records yet, the tables were exchanged already, or a diff with another limit is being computed.',
        ENVELOPE,
      ),
    },
  },
  swapReplay: {
    id: 'swapReplay',
    summary: 'Exchange the tables and the shadow tables; done when phase is swapped, or refusal says why not',
    responses: {
      ...one(200, 'The replay.', 'Replay'),
      ...NO_REPLAY,
      409: jsonResponse(
        'The shadow tables do not have all records yet, or the tables were exchanged already.',
        ENVELOPE,
      ),
    },
  },
  undoReplay: {
    id: 'undoReplay',
    summary: 'Exchange the tables back, within 24 hours; done when phase is undone, or refusal says why not',
    responses: {
      ...one(200, 'The replay.', 'Replay'),
      ...NO_REPLAY,
      409: jsonResponse(
        'There is no swap to undo, it is more than 24 hours old, or it has applied migrations. Or a swap, an erasure or a removal of expired rows runs.',
        ENVELOPE,
      ),
    },
  },
  dropReplay: {
    id: 'dropReplay',
    summary: 'Drop the replay and its shadow tables; done when the replay is not found any more',
    responses: {
      ...one(200, 'The replay.', 'Replay'),
      ...NO_REPLAY,
      409: jsonResponse('The tables are being exchanged.', ENVELOPE),
    },
  },
  whoami: {
    id: 'whoami',
    summary: 'The client IP of this request, how Weir found it, and hints about the proxy settings',
    responses: one(200, 'The client IP, and the sites that get most hits from one network.', 'Whoami'),
  },
  listImports: {
    id: 'listImports',
    summary: 'The progress of each imported file',
    responses: { ...list('The imports.', IMPORT_PROGRESS), ...NOT_FOUND },
  },
  beginImport: {
    id: 'beginImport',
    summary: 'Begin or continue the import of a file; the lease is null if it was finished before',
    responses: { ...IMPORT, ...CONFLICT },
  },
  importChunk: {
    id: 'importChunk',
    summary: 'Append the hits of a run of lines; sending a chunk again adds nothing',
    responses: { ...IMPORT, ...CONFLICT },
  },
  finishImport: {
    id: 'finishImport',
    summary: 'All lines are done; waits up to 10 seconds until the rows can be queried',
    responses: { ...IMPORT, ...CONFLICT },
  },
  releaseImport: {
    id: 'releaseImport',
    summary: 'Release an import, so that another client can continue it',
    responses: {
      ...IMPORT,
      409: jsonResponse('Another process accepts imports: send it again.', ENVELOPE, RETRY_AFTER),
    },
  },
} as const satisfies Readonly<Record<string, AdminOperation>>;

import { USER_ID_CHARS_MAX, VISITOR_ID_CHARS_MAX } from '@weir/domain/registry/admin-limits';
import {
  ENVELOPE,
  jsonResponse,
  nullableText,
  object,
  type Schema,
  successBody,
  text,
} from '@weir/runtime/http/openapi';
import { type AdminOperation, NOT_FOUND } from './admin-operations.ts';

const erasure = object({
  erasure_id: text,
  site_id: text,
  all: { type: 'boolean' },
  visitors: { type: 'integer' },
  users: { type: 'integer' },
  received_until: { ...text, description: 'Records that were received later are not erased.' },
  phase: { type: 'string', enum: ['waiting', 'resolving', 'deleting', 'archive', 'done'] },
  problem: { ...nullableText, description: 'Why the last attempt stopped. Weir tries again without an operator.' },
  finished_at: nullableText,
  removed: { type: 'object', additionalProperties: { type: 'integer' }, description: 'Rows, by table.' },
  archive: {
    ...object({
      segments: { type: 'integer' },
      rewritten: { type: 'integer' },
      parquet_files: { type: 'integer', description: 'The number of Parquet files that were stored again.' },
      records: {
        type: 'object',
        additionalProperties: { type: 'integer' },
        description: 'The number of erased records, by topic.',
      },
    }),
    type: ['object', 'null'],
    description:
      'Segments that were read and rewritten, and records that were erased in them. Null: the archive was not erased.',
  },
  remains: {
    type: 'array',
    items: object({
      kind: {
        type: 'string',
        enum: [
          ...['raw_topic', 'enriched_topic', 'old_parts', 'detached_parts', 'free_space'],
          ...['archive', 'parquet', 'copies', 'tombstones'],
        ],
      },
      where: text,
      until: nullableText,
    }),
  },
});

const query = (name: string, maxLength: number): Schema => ({
  name,
  in: 'query',
  schema: { type: 'string', minLength: 1, maxLength },
});

export const PERSON_OPERATIONS = {
  createErasure: {
    id: 'createErasure',
    summary: 'Erase persons, or all records that a site has so far',
    responses: {
      200: jsonResponse(
        'With dry_run: the erasure as it would begin, without an ID. Nothing is erased.',
        successBody(erasure),
      ),
      202: jsonResponse('The erasure. It continues after the answer, also after a crash.', successBody(erasure)),
      ...NOT_FOUND,
      409: jsonResponse('Too many erasures wait, the tables are being swapped, or a backup is being made.', ENVELOPE),
    },
  },
  listErasures: {
    id: 'listErasures',
    summary: 'The erasures, the newest first',
    responses: { 200: jsonResponse('The erasures.', successBody({ type: 'array', items: erasure })) },
  },
  listTombstones: {
    id: 'listTombstones',
    summary: 'The tombstones of all erasures (salted hashes), which the restore of an older backup needs',
    responses: {
      200: jsonResponse(
        'The list, as weir backup restore --erased reads it.',
        successBody(
          object({
            version: { const: 1 },
            at: { type: 'integer' },
            tombstones: { type: 'array', items: { type: 'object' } },
          }),
        ),
      ),
    },
  },
  readErasure: {
    id: 'readErasure',
    summary: 'The progress of an erasure, and its receipt',
    responses: { 200: jsonResponse('The erasure.', successBody(erasure)), ...NOT_FOUND },
  },
  readPerson: {
    id: 'readPerson',
    summary: 'All stored data of a person; either visitor_id or user_id',
    parameters: [query('visitor_id', VISITOR_ID_CHARS_MAX), query('user_id', USER_ID_CHARS_MAX)],
    responses: {
      200: jsonResponse('One object, without the envelope. It is complete only if it can be parsed.', {
        type: 'object',
        properties: { site_id: text, visitor_id: nullableText, user_id: nullableText },
      }),
      ...NOT_FOUND,
    },
  },
} as const satisfies Readonly<Record<string, AdminOperation>>;

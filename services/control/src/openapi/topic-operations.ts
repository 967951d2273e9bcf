import {
  count,
  ENVELOPE,
  jsonResponse,
  nullableText,
  object,
  type Schema,
  successBody,
  text,
} from '@weir/runtime/http/openapi';
import { RECORDS_MAX, RECORDS_PARAMETERS, SITE_PATTERN, WAIT_SECONDS_MAX } from '../topics/records-query.ts';
import type { AdminOperation } from './admin-operations.ts';

const nullableCount: Schema = { type: ['integer', 'null'], minimum: 0 };

const TOPIC: Schema = object({
  name: text,
  kind: { enum: ['log', 'table'] },
  records: { ...nullableCount, description: 'For a table, the number of its current rows. Null for salts.' },
  retention_hours: { ...nullableCount, description: 'Null for a table: it keeps the last row of each key.' },
  partitions: {
    type: 'array',
    description: 'Empty for a table.',
    items: object({
      partition: count,
      records: count,
      first_offset: count,
      end_offset: { ...count, description: 'One past the last record.' },
      first_at: nullableText,
      last_at: nullableText,
    }),
  },
});

const PAGE: Schema = object({
  topic: text,
  records: {
    type: 'array',
    items: object({
      partition: count,
      offset: { ...nullableCount, description: 'offset and appended_at are null for a row of a table.' },
      appended_at: nullableText,
      bytes: count,
      site_id: nullableText,
      record: { type: ['object', 'null'], description: 'Without client addresses, hashes of keys and secrets.' },
      problem: { ...nullableText, description: 'Why the record cannot be shown.' },
    }),
  },
  cursor: { ...text, description: 'The value of after for the next call.' },
  at_end: { type: 'boolean', description: 'There was no further record at the time of the call.' },
  scanned: { ...count, description: 'Records that were read, whether they match or not.' },
});

const PARAMETERS: Readonly<Record<(typeof RECORDS_PARAMETERS)[number], Schema>> = {
  site: {
    description: 'Only records of this site. The site may have been removed.',
    schema: { ...text, pattern: SITE_PATTERN },
  },
  since: {
    description:
      'A duration before now (90s, 15m, 2h, 3d) or an ISO 8601 time in the past. Without since and after: the newest records.',
    schema: { ...text, pattern: '^[0-9]{1,6}[smhd]$' },
  },
  after: { description: 'The cursor of the previous answer.', schema: { ...text, pattern: '^[A-Za-z0-9._-]+$' } },
  limit: { description: 'Default: 100.', schema: { type: 'integer', minimum: 1, maximum: RECORDS_MAX } },
  wait: {
    description: 'Seconds to wait for a record if there is no record yet. Default: 0.',
    schema: { type: 'integer', minimum: 0, maximum: WAIT_SECONDS_MAX },
  },
};

/** docs/topics.md describes the topics and their records. */
export const TOPIC_OPERATIONS = {
  listTopics: {
    id: 'listTopics',
    summary: 'The topics of the event log: records, offsets and times of each partition',
    responses: { 200: jsonResponse('The topics.', successBody({ type: 'array', items: TOPIC })) },
  },
  listTopicRecords: {
    id: 'listTopicRecords',
    summary: 'Records of a topic as objects, in pages; consumers are not affected',
    parameters: RECORDS_PARAMETERS.map((name) => ({ name, in: 'query', ...PARAMETERS[name] })),
    responses: {
      200: jsonResponse('A page.', successBody(PAGE)),
      404: jsonResponse('No such topic.', ENVELOPE),
    },
  },
} as const satisfies Readonly<Record<string, AdminOperation>>;

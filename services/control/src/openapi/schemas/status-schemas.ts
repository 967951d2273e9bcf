import { count, nullableText, object, type Schema, text } from '@weir/runtime/http/openapi';

const byReason: Schema = { type: 'object', description: 'Records by reason.', additionalProperties: count };
const books = {
  ...{ stored: count, identify: count, duplicate: count, dropped: byReason, dead: byReason },
  ...{ redriven: count, erased: count, expired: count },
};

/** A consumer of a topic, in the answer of `GET /api/admin/pipeline`. */
export const CONSUMER = object({
  ...{ topic: text, consumer: text, lag: count, rate_per_second: count },
  ...{ last_error: nullableText, alarm: nullableText },
  dead_letters: {
    type: ['integer', 'null'],
    description: 'Null while ClickHouse is not available, or does not answer within 3 seconds.',
  },
  partitions: {
    type: 'array',
    items: object({
      ...{ partition: count, first_offset: count, end_offset: count, committed_offset: { type: ['integer', 'null'] } },
      ...{ lag: count, last_error: nullableText, alarm: nullableText },
    }),
  },
});

/** The answer of `GET /api/admin/audit`. */
export const AUDIT = object({
  balanced: { type: 'boolean' },
  log_id: text,
  partitions: {
    type: 'array',
    items: object({
      ...{ log_id: text, partition: count, compared_from: count, checkpoint_at: nullableText },
      ...{ received: count, outcomes: count, in_flight: { type: 'integer' } },
      ...{ missing: count, repeated: count, erasing: count, expired_in_archive: count, balanced: { type: 'boolean' } },
    }),
  },
  totals: object({
    received: count,
    ...books,
    in_flight: { type: 'integer' },
    erasing: count,
    expired_in_archive: count,
    redriven_twice: count,
  }),
  sites: { type: 'array', items: object({ site_id: text, ...books }) },
});

export const IMPORT_PROGRESS = object({
  ...{ site_id: text, file_digest: text, started_at: text, lines_done: count, hits_appended: count },
  finished: { type: 'boolean' },
});

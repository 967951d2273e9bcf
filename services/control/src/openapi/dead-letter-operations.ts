import {
  count,
  ENVELOPE,
  jsonResponse,
  nullableText,
  object,
  type Schema,
  successBody,
  text,
  time,
} from '@weir/runtime/http/openapi';
import { LETTERS_MAX, LETTERS_PARAMETERS, REDRIVE } from '../dead-letters/dead-letters-route.ts';
import { LETTER_ID_PATTERN } from '../dead-letters/letter-filter.ts';
import type { AdminOperation } from './admin-operations.ts';
import { publishBody } from './schemas/admin-request-schemas.ts';

const cursor: Schema = {
  ...nullableText,
  description: 'The value of after for the next page; null after the last page.',
};
const moment = 'a duration before now (90s, 15m, 2h, 3d) or an ISO 8601 time';

const letter = {
  letter_id: { ...text, pattern: LETTER_ID_PATTERN },
  site_id: { ...text, description: 'Empty if the record could not be read.' },
  stage: { ...text, description: 'enricher, or writer if ClickHouse refused the row.' },
  reason: { ...text, description: 'unreadable, step_failed or row_refused.' },
  error: text,
  failed_at: time,
  attempts: { ...count, description: 'How often it was redriven and became a dead letter again.' },
  log_id: text,
  partition: { ...count, description: 'Of the record in events.raw, as offset.' },
  offset: count,
  redriven_at: { ...nullableText, description: 'When it was redriven successfully.' },
};

const FILTERS: Readonly<Record<(typeof LETTERS_PARAMETERS)[number], Schema>> = {
  site: { description: 'Only dead letters of this site.', schema: text },
  stage: { description: 'enricher or writer.', schema: text },
  reason: { description: 'unreadable, step_failed or row_refused.', schema: text },
  error: { description: 'A text that the error contains, in any letter case.', schema: text },
  since: { description: `Only dead letters that failed since then: ${moment}.`, schema: text },
  until: { description: `Only dead letters that failed before then: ${moment}.`, schema: text },
  after: { description: 'The cursor of the previous answer.', schema: { ...text, pattern: LETTER_ID_PATTERN } },
  limit: { description: 'Default: 100.', schema: { type: 'integer', minimum: 1, maximum: LETTERS_MAX } },
};

const RESULT: Schema = object({
  letter_id: text,
  result: {
    enum: [
      ...['stored', 'duplicate', 'dropped', 'erased', 'dead', 'pending'],
      ...['refused', 'would_redrive', 'redriven_before', 'not_found'],
    ],
  },
  problem: { ...nullableText, description: 'Why it cannot be redriven, or its new error.' },
});

export const DEAD_LETTER_OPERATIONS = {
  listDeadLetters: {
    id: 'listDeadLetters',
    summary: 'The dead letters: records that could not be processed, in pages',
    parameters: LETTERS_PARAMETERS.map((name) => ({ name, in: 'query', ...FILTERS[name] })),
    responses: {
      200: jsonResponse(
        'A page.',
        successBody(
          object({
            total: { ...count, description: 'All dead letters that match.' },
            letters: { type: 'array', items: object(letter) },
            cursor,
          }),
        ),
      ),
    },
  },
  showDeadLetter: {
    id: 'showDeadLetter',
    summary: 'One dead letter with its payload, without client addresses, e-mail addresses and keys',
    responses: {
      200: jsonResponse(
        'The dead letter.',
        successBody(
          object({
            ...letter,
            payload: { ...text, description: 'The record, or the row that ClickHouse refused.' },
            redrive_problem: { ...nullableText, description: 'Why it cannot be redriven.' },
          }),
        ),
      ),
      404: jsonResponse('No such dead letter.', ENVELOPE),
    },
  },
  redriveDeadLetters: {
    id: 'redriveDeadLetters',
    summary: 'Process the records of dead letters again, each once, and wait for their outcomes',
    request: publishBody(REDRIVE),
    responses: {
      200: jsonResponse(
        'The results.',
        successBody(
          object({
            dry_run: { type: 'boolean' },
            total: { ...count, description: 'All dead letters that matched before the call.' },
            results: { type: 'array', items: RESULT },
            cursor,
          }),
        ),
      ),
      409: jsonResponse('There is a replay.', ENVELOPE),
    },
  },
} as const satisfies Readonly<Record<string, AdminOperation>>;

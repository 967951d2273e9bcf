import { ENVELOPE, jsonResponse, text } from '@weir/runtime/http/openapi';
import { CONTAINS_CHARS_MAX, LIVE_OUTCOMES } from '../../live/live-request.ts';
import { type AdminOperation, NOT_FOUND } from '../admin-operations.ts';

export const LIVE_OPERATION: AdminOperation = {
  id: 'live',
  summary: 'The records of a site as they are stored, as server-sent events',
  parameters: [
    { name: 'outcome', in: 'query', description: 'Only records with it.', schema: { enum: LIVE_OUTCOMES } },
    {
      name: 'contains',
      in: 'query',
      description: 'Only records with a value that contains this text, in any letter case.',
      schema: { ...text, maxLength: CONTAINS_CHARS_MAX },
    },
    {
      name: 'Last-Event-ID',
      in: 'header',
      description: 'The ID of the last event that was received. Default: begin with new records.',
      schema: text,
    },
  ],
  responses: {
    200: {
      description:
        'Events record (an object as in /topics/{topic}/records) and skipped, until the connection is closed.',
      content: { 'text/event-stream': { schema: text } },
    },
    ...NOT_FOUND,
    503: jsonResponse('Too many listeners, or the event log is not available.', ENVELOPE),
  },
};

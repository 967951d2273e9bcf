import { count, jsonResponse, object, type Schema, successBody, text, time } from '@weir/runtime/http/openapi';
import { REALTIME_LIMIT_MAX, REALTIME_PARAMETERS } from '../reports/read-query.ts';
import { type AdminOperation, NOT_FOUND } from './admin-operations.ts';
import { explain, head, parametersOf } from './report-operations.ts';

const counted = { visitors: count, pageviews: count, events: count };
const list: Schema = { type: 'array', items: object({ value: text, ...counted }) };
const lists = { pages: list, sources: list, countries: list };
const totals = { last_5_minutes: object(counted), last_30_minutes: object(counted) };
const minutes: Schema = { type: 'array', items: object({ start: time, ...counted }), minItems: 30, maxItems: 30 };
const answer = { ...head, limit: count, ...totals, minutes, ...lists };
const limit: Schema = {
  name: 'limit',
  in: 'query',
  description: 'The length of each list. Default: 10.',
  schema: { type: 'integer', minimum: 1, maximum: REALTIME_LIMIT_MAX },
};

export const REALTIME_OPERATION: AdminOperation = {
  id: 'realtime',
  summary: 'Who is on a site now: the last 5 and 30 minutes, by the times of the events',
  parameters: [...parametersOf(REALTIME_PARAMETERS.filter((name) => name !== 'limit')), limit],
  responses: {
    200: jsonResponse('The numbers.', successBody(object({ ...answer, explain }, Object.keys(answer)))),
    ...NOT_FOUND,
  },
};

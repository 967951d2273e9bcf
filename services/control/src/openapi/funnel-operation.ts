import { ACTION_TYPES } from '@weir/domain/registry/goal';
import { count, jsonResponse, object, successBody, text } from '@weir/runtime/http/openapi';
import { FUNNEL_PARAMETERS } from '../reports/read-query.ts';
import { type AdminOperation, NOT_FOUND } from './admin-operations.ts';
import { explain, head, mean, parametersOf } from './report-operations.ts';

const rate = { ...mean, maximum: 1, description: 'Null if there are no visitors to divide by.' };
const step = object({
  ...{ type: { enum: ACTION_TYPES }, value: text, visitors: count },
  dropped: { ...count, description: 'Visitors of the step before who did not reach this one.' },
  rate: { ...rate, description: 'The share of the visitors of the first step.' },
  step_rate: { ...rate, description: 'The share of the visitors of the step before.' },
});
const answer = { ...head, within_seconds: count, steps: { type: 'array', items: step }, conversion_rate: rate };

export const FUNNEL_OPERATION: AdminOperation = {
  id: 'funnel',
  summary: 'How many visitors went through some steps in order',
  parameters: parametersOf(FUNNEL_PARAMETERS),
  responses: {
    200: jsonResponse('The steps.', successBody(object({ ...answer, explain }, Object.keys(answer)))),
    ...NOT_FOUND,
  },
};

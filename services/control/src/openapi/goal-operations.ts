import { NEW_GOAL } from '@weir/domain/registry/admin-limits';
import { PAGE_GLOB_CHARS_MAX } from '@weir/domain/registry/goal';
import { count, ENVELOPE, jsonResponse, object, type Schema, successBody, text } from '@weir/runtime/http/openapi';
import { CONVERSION_ORDERS } from '../reports/goals/conversions-sql.ts';
import { CONVERSIONS_PARAMETERS } from '../reports/read-query.ts';
import { type AdminOperation, NOT_FOUND } from './admin-operations.ts';
import { explain, head, parametersOf } from './report-operations.ts';

const action = { name: text, type: NEW_GOAL.properties.type, value: text };
const goal = object({ goal_id: text, site_id: text, ...action, created_at: text });
const NEW_GOAL_SCHEMA: Schema = {
  type: 'object',
  required: ['type', 'value'],
  properties: { name: { ...NEW_GOAL.properties.name, type: ['string', 'null'] } },
  oneOf: [
    {
      properties: {
        type: { const: 'event' },
        value: {
          ...text,
          description: 'The name of the event.',
          pattern: '^[^$\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u001f\\u007f-\\u009f]{0,127}$',
        },
      },
    },
    {
      properties: {
        type: { const: 'page' },
        value: {
          ...{ ...text, description: 'A glob of pages: * stands for any characters.', maxLength: PAGE_GLOB_CHARS_MAX },
          pattern: '^[/*][^\\u0000-\\u001f\\u007f-\\u009f]*$',
        },
      },
    },
  ],
};
const numbers = {
  conversions: count,
  converting_visitors: count,
  conversion_rate: { type: ['number', 'null'], maximum: 1, description: 'Null if there are no visitors.' },
  revenue: { type: 'array', items: object({ currency: text, amount: text }) },
};
const OWN: Readonly<Record<string, Schema>> = {
  dimension: {
    required: false,
    description: 'Breaks one goal down by this dimension; property:NAME is a custom property.',
  },
  order: {
    description: 'With dimension. Default: conversions:desc.',
    schema: { ...text, pattern: `^(?:${Object.keys(CONVERSION_ORDERS).join('|')})(?::(?:asc|desc))?$` },
  },
};

export const GOAL_OPERATIONS = {
  listGoals: {
    id: 'listGoals',
    summary: 'The goals of a site',
    responses: {
      200: jsonResponse('The goals.', successBody({ type: 'array', items: goal })),
      ...NOT_FOUND,
    },
  },
  createGoal: {
    id: 'createGoal',
    summary: 'Add a goal: an event, or a glob of pages; the report counts conversions of the past too',
    request: NEW_GOAL_SCHEMA,
    responses: {
      201: jsonResponse('The goal.', successBody(goal)),
      ...NOT_FOUND,
      409: jsonResponse('The site has this goal, or the limit of the number of goals is reached.', ENVELOPE),
    },
  },
  removeGoal: {
    id: 'removeGoal',
    summary: 'Remove a goal; no event is removed',
    responses: { 200: jsonResponse('Removed.', successBody({ type: 'object' })), ...NOT_FOUND },
  },
  conversions: {
    id: 'conversions',
    summary: 'The conversions of the goals of a site, or of one goal by a dimension',
    parameters: parametersOf(CONVERSIONS_PARAMETERS).map((known) => ({ ...known, ...OWN[String(known.name)] })),
    responses: {
      200: jsonResponse(
        'Without dimension: visitors and goals. With dimension: goal and rows.',
        successBody(
          object(
            {
              ...head,
              visitors: count,
              goals: { type: 'array', items: object({ goal_id: text, ...action, ...numbers }) },
              goal: object({ goal_id: text, ...action }),
              ...{ dimension: text, order: text, limit: count, page: count, has_more: { type: 'boolean' } },
              rows: { type: 'array', items: object({ value: text, visitors: count, ...numbers }) },
              explain,
            },
            Object.keys(head),
          ),
        ),
      ),
      ...NOT_FOUND,
    },
  },
} as const satisfies Readonly<Record<string, AdminOperation>>;

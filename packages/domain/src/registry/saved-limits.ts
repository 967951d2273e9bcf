import { name, time } from './admin-limits.ts';
import { FUNNEL_STEPS_MAX, FUNNEL_STEPS_MIN, STEP_CHARS_MAX } from './goal.ts';

// JSON Schemas of the request bodies with which the admin API saves segments, funnels and annotations.

export const NEW_SEGMENT = {
  type: 'object',
  required: ['name', 'filters'],
  properties: {
    name,
    filters: {
      description: 'As the query parameter filter of a report.',
      type: 'array',
      minItems: 1,
      maxItems: 20,
      items: { type: 'string', minLength: 1, maxLength: 8192 },
    },
  },
} as const;

export const NEW_FUNNEL = {
  type: 'object',
  required: ['name', 'steps'],
  properties: {
    name,
    steps: {
      description: 'As the query parameter step of the funnel report, in the order of the steps.',
      type: 'array',
      minItems: FUNNEL_STEPS_MIN,
      maxItems: FUNNEL_STEPS_MAX,
      items: { type: 'string', minLength: 1, maxLength: STEP_CHARS_MAX },
    },
    within: {
      description: 'As the query parameter within of the funnel report. Default: 7d.',
      type: 'string',
      minLength: 1,
      maxLength: 9,
    },
  },
} as const;

export const ANNOTATION_CHANGE = {
  type: 'object',
  properties: {
    at: { ...time, description: 'A date in the time zone of the site, or an ISO 8601 time.' },
    text: { type: 'string', minLength: 1, maxLength: 500, pattern: '\\S' },
  },
} as const;

export const NEW_ANNOTATION = { ...ANNOTATION_CHANGE, required: ['at', 'text'] } as const;

import { count, jsonResponse, object, type Schema, successBody, text, time } from '@weir/runtime/http/openapi';
import { COHORT_INTERVALS, COHORTS_PARAMETERS, JOURNEYS_PARAMETERS } from '../reports/read-query.ts';
import { type AdminOperation, NOT_FOUND } from './admin-operations.ts';
import { explain, head, mean, parametersOf } from './report-operations.ts';

const cohort = object({
  ...{ start: time, end: time, visitors: { ...count, description: 'Visitors who were first seen in this bucket.' } },
  returned: { type: 'array', items: count, description: 'How many of them were seen in each later bucket, in order.' },
  rates: { type: 'array', items: { ...mean, maximum: 1 }, description: 'The same as shares of visitors.' },
});
const cohorts = { ...head, interval: { enum: COHORT_INTERVALS }, cohorts: { type: 'array', items: cohort } };

const counted = { views: count, visits: count };
const pages: Schema = {
  type: 'array',
  items: object({ value: text, ...counted }),
  description: 'An empty value: the visit began or ended with the page.',
};
const journeys = { ...head, path: text, limit: count, ...counted, previous: pages, next: pages };

const OWN: Readonly<Record<string, Schema>> = {
  interval: { description: 'Default: day. At most 60 buckets.', schema: { enum: COHORT_INTERVALS } },
};
const LIMIT: Readonly<Record<string, Schema>> = { limit: { description: 'The length of each list. Default: 10.' } };

export const VISITOR_PATH_OPERATIONS = {
  cohorts: {
    id: 'cohorts',
    summary: 'New visitors by day, week or month, and how many of them came back later',
    parameters: parametersOf(COHORTS_PARAMETERS).map((known) => ({ ...known, ...OWN[String(known.name)] })),
    responses: {
      200: jsonResponse('The cohorts.', successBody(object({ ...cohorts, explain }, Object.keys(cohorts)))),
      ...NOT_FOUND,
    },
  },
  journeys: {
    id: 'journeys',
    summary: 'The pages before and after a page',
    parameters: parametersOf(JOURNEYS_PARAMETERS).map((known) => ({ ...known, ...LIMIT[String(known.name)] })),
    responses: {
      200: jsonResponse('The pages.', successBody(object({ ...journeys, explain }, Object.keys(journeys)))),
      ...NOT_FOUND,
    },
  },
} as const satisfies Readonly<Record<string, AdminOperation>>;

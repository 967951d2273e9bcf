import { NEW_FUNNEL } from '@weir/domain/registry/saved-limits';
import { ENVELOPE, jsonResponse, object, type Schema, successBody, text } from '@weir/runtime/http/openapi';
import { type AdminOperation, NOT_FOUND } from '../admin-operations.ts';
import { STEP, WITHIN } from '../report-parameters.ts';

const segment = object({
  ...{ segment_id: text, site_id: text, name: text },
  filters: { type: 'array', items: text, description: 'As the query parameter filter of a report.' },
  created_at: text,
});
const funnel = object({
  ...{ funnel_id: text, site_id: text, name: text },
  steps: { type: 'array', items: text, description: 'As the query parameter step of the funnel report.' },
  within: { ...text, description: 'As the query parameter within of the funnel report.' },
  created_at: text,
});
/** The body of a new funnel, with the patterns of the query parameters `step` and `within`. */
const newFunnel: Schema = {
  ...NEW_FUNNEL,
  properties: {
    ...NEW_FUNNEL.properties,
    steps: { ...NEW_FUNNEL.properties.steps, items: { ...NEW_FUNNEL.properties.steps.items, pattern: STEP } },
    within: { ...NEW_FUNNEL.properties.within, type: ['string', 'null'], pattern: WITHIN },
  },
};
const annotation = object({
  ...{ annotation_id: text, site_id: text, text },
  at: { ...text, description: 'The time at which charts show it.' },
  created_at: text,
});
const CONFLICT: Schema = {
  409: jsonResponse('It exists already, or the site has the maximum number of them.', ENVELOPE),
};

const list = (items: Schema): Schema => ({
  200: jsonResponse('The list.', successBody({ type: 'array', items })),
  ...NOT_FOUND,
});
const made = (schema: Schema): Schema => ({
  201: jsonResponse('It was added.', successBody(schema)),
  ...NOT_FOUND,
  ...CONFLICT,
});
const removed = (id: string): Schema => ({
  200: jsonResponse('Removed.', successBody(object({ [id]: text, removed: { const: true } }))),
  ...NOT_FOUND,
});

export const SAVED_OPERATIONS = {
  listSegments: { id: 'listSegments', summary: 'The saved filters of a site', responses: list(segment) },
  createSegment: { id: 'createSegment', summary: 'Save filters under a name', responses: made(segment) },
  removeSegment: { id: 'removeSegment', summary: 'Remove a segment', responses: removed('segment_id') },
  listFunnels: { id: 'listFunnels', summary: 'The saved funnels of a site', responses: list(funnel) },
  createFunnel: {
    id: 'createFunnel',
    summary: 'Save the steps of a funnel under a name',
    request: newFunnel,
    responses: made(funnel),
  },
  removeFunnel: { id: 'removeFunnel', summary: 'Remove a saved funnel', responses: removed('funnel_id') },
  listAnnotations: {
    id: 'listAnnotations',
    summary: 'The notes that charts of a site show, by their time',
    responses: list(annotation),
  },
  createAnnotation: { id: 'createAnnotation', summary: 'Add a note at a moment', responses: made(annotation) },
  changeAnnotation: {
    id: 'changeAnnotation',
    summary: 'Change the time or the text of an annotation',
    responses: { 200: jsonResponse('The annotation.', successBody(annotation)), ...NOT_FOUND },
  },
  removeAnnotation: { id: 'removeAnnotation', summary: 'Remove an annotation', responses: removed('annotation_id') },
} as const satisfies Readonly<Record<string, AdminOperation>>;

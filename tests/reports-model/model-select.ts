import { type Period, within } from './model-periods.ts';
import { isInternal, type Model, type ModelRow, type ModelVisit } from './model-rows.ts';
import { dimensionValue, doneValues, isDone, isOfVisit, ownValue, visitValue } from './model-values.ts';
import type { Filter, ScopeQuestion } from './report-questions.ts';

// This file selects the rows and visits that a report counts, by the definitions of docs/stats.md (What each number means, Filters, Explain).

/** All spellings of a value. In these histories, `ü` is the only letter of a path that URLs encode. */
export const spelled = (dimension: string, text: string): readonly string[] =>
  ['page', 'entry', 'exit', 'viewed_page'].includes(dimension)
    ? ['ü', '%C3%BC', '%c3%bc'].map((letter) => text.replaceAll('ü', letter))
    : [text];

function matches({ dimension, operator, values: asked }: Filter, value: string): boolean {
  const values = asked.flatMap((text) => spelled(dimension, text));
  switch (operator) {
    case 'is':
      return values.includes(value);
    case 'is_not':
      return !values.includes(value);
    case 'contains':
      return values.some((part) => value.includes(part));
    case 'contains_not':
      return !values.some((part) => value.includes(part));
    case 'matches':
      return values.some((glob) => matchesGlob(glob, value));
    case 'matches_not':
      return !values.some((glob) => matchesGlob(glob, value));
  }
}

/** Whether a value matches a glob, in which `*` stands for any characters. */
export function matchesGlob(glob: string, value: string): boolean {
  const [first = '', ...others] = glob.split('*');
  if (others.length === 0) return glob === value;
  if (!value.startsWith(first)) return false;
  let at = first.length;
  for (const part of others.slice(0, -1)) {
    const found = value.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return value.length - at >= (others.at(-1) ?? '').length && value.endsWith(others.at(-1) ?? '');
}

/** The rows that a report counts, and the visits that began in the period and have one of them. */
export interface Selected {
  readonly hits: readonly ModelRow[];
  readonly visits: readonly ModelVisit[];
}

/**
 * Returns whether a row passes the filter. Filters such as `done_event` select the row by its visitor: they compare all pageviews or events of
 * this visitor in `all`. Other filters compare the values of the row itself.
 */
function passing(filter: Filter, all: readonly ModelRow[]): (row: ModelRow) => boolean {
  const { dimension, operator } = filter;
  if (!isDone(dimension)) return (row) => matches(filter, ownValue(row, dimension));
  const has = { ...filter, operator: operator.replace('_not', '') as Filter['operator'] };
  const done = all.filter((row) => doneValues(row, dimension).some((value) => matches(has, value)));
  const visitors = new Set(done.map(({ visitor }) => visitor).filter((visitor) => visitor !== ''));
  return ({ visitor }) => visitors.has(visitor) !== operator.endsWith('_not');
}

export function select(
  model: Model,
  { filters, bots }: Pick<ScopeQuestion, 'filters' | 'bots'>,
  period: Period,
): Selected {
  const [ofVisit, ofRow] = [true, false].map((wanted) =>
    filters.filter(({ dimension }) => isOfVisit(dimension) === wanted),
  );
  const all = model.rows.filter(
    (row) => within(period, row.at) && !isInternal(row) && (bots === 'include' || row.bot === ''),
  );
  const passes = (ofRow ?? []).map((filter) => passing(filter, all));
  const rows = all.filter((row) => passes.every((pass) => pass(row)));
  const ofHits = [...new Set(rows.map(({ session }) => session))].flatMap((session) => model.visits.get(session) ?? []);
  return {
    hits: rows.filter((row) =>
      (ofVisit ?? []).every((filter) => matches(filter, dimensionValue(model, row, filter.dimension))),
    ),
    visits: ofHits.filter(
      (visit) =>
        within(period, visit.start) &&
        (ofVisit ?? []).every((filter) => matches(filter, visitValue(visit, filter.dimension))),
    ),
  };
}

/** The number of distinct visitors of these rows. */
export function visitorsOf(rows: readonly ModelRow[]): number {
  return new Set(rows.map(({ visitor }) => visitor).filter((visitor) => visitor !== '')).size;
}

/** The expected `left_out` of `explain=1` (docs/api.md): how many rows of the period the report counts, and how many it does not count and why. */
export function leftOut(model: Model, question: ScopeQuestion, period: Period): object {
  if (!question.explain) return {};
  const { hits } = select(model, question, period);
  const visits = new Set(hits.map(({ session }) => model.visits.get(session)));
  const rows = model.rows.filter(({ at }) => within(period, at));
  const internal = rows.filter(isInternal).length;
  const bots = question.bots === 'include' ? 0 : rows.filter((row) => row.bot !== '' && !isInternal(row)).length;
  const left_out = {
    ...{ rows: rows.length, counted: hits.length, bots, internal_events: internal },
    filtered: rows.length - hits.length - bots - internal,
    without_visitor: hits.filter(({ visitor }) => visitor === '').length,
    without_visit: hits.filter(({ session }) => !model.visits.has(session)).length,
    visits_begun_before: [...visits].filter((visit) => visit !== undefined && visit.start < period.from).length,
    never_stored: neverStored(model, period),
  };
  return { left_out };
}

/**
 * For each reason, the expected number of records that were received in the period and have no row. Times of receipt have the precision of a
 * minute.
 */
function neverStored({ dropped }: Model, { from, to }: Period): readonly object[] {
  const MINUTE_MS = 60_000;
  const minute = (ms: number): number => Math.floor(ms / MINUTE_MS) * MINUTE_MS;
  const records = dropped.filter((at) => minute(at) >= minute(from) && minute(at) < to).length;
  return records === 0 ? [] : [{ outcome: 'dropped', reason: 'excluded_path', records }];
}

export interface Counted {
  readonly visitors: number;
  readonly pageviews: number;
  readonly events: number;
}

export function countedOf(rows: readonly ModelRow[]): Counted {
  const events = rows.filter(({ name }) => name !== '').length;
  return { visitors: visitorsOf(rows), pageviews: rows.length - events, events };
}

/** The share as the answers have it, with four digits after the point. Null if it would be a division by 0. */
export function shareOf(part: number, all: number): number | null {
  return all === 0 ? null : Number((part / all).toFixed(4));
}

/** Compares two texts by their bytes, as ClickHouse does. */
export function compareTexts(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** Compares two numbers in the direction of an order. In both directions, null is last. */
export function compareNumbers(x: number | null, y: number | null, direction: string): number {
  if (x !== y && (x === null || y === null)) return x === null ? 1 : -1;
  return (direction === 'desc' ? -1 : 1) * ((x ?? 0) - (y ?? 0));
}

import { bucketsOf, DAY_MS, dayStart, daysLater, localDate, monthsLater } from './local-time.ts';
import { isInternal, type Model, type ModelRow, type ModelVisit } from './model-rows.ts';
import { dimensionValue, doneValues, isDone, isOfVisit, LISTS_EMPTY, ownValue, visitValue } from './model-values.ts';
import type { Filter, Question } from './report-questions.ts';

// This file computes the expected answers of the reports by the definitions of docs/stats.md, from the rows and visits of the model.

interface Period {
  readonly from: number;
  readonly to: number;
}
interface Numbers {
  readonly visitors: number;
  readonly visits: number;
  readonly pageviews: number;
  readonly events: number;
  readonly bounce_rate: number | null;
  readonly visit_duration: number | null;
  readonly views_per_visit: number | null;
}

function periodOf({ period, from, to }: Question, zone: string, now: number, rows: readonly ModelRow[]): Period {
  const today = localDate(now, zone);
  const days = (first: string, end: string): Period => ({ from: dayStart(first, zone), to: dayStart(end, zone) });
  if (from !== undefined) {
    const moment = (text: string, later: number): number =>
      text.includes('T') ? Date.parse(text) : dayStart(daysLater(text, later), zone);
    return { from: moment(from, 0), to: moment(to ?? today, 1) };
  }
  const tomorrow = daysLater(today, 1);
  switch (period) {
    case '24h':
      return { from: now - DAY_MS, to: now };
    case 'yesterday':
      return days(daysLater(today, -1), today);
    case 'month':
      return days(`${today.slice(0, 8)}01`, tomorrow);
    case 'year':
      return days(`${today.slice(0, 5)}01-01`, tomorrow);
    case '12mo':
      return days(monthsLater(`${today.slice(0, 8)}01`, -11), tomorrow);
    case 'all': {
      const first = rows.length === 0 ? today : localDate(Math.min(...rows.map(({ at }) => at)), zone);
      return days(dateBefore(first, today), tomorrow);
    }
    default:
      return days(daysLater(today, 1 - (Number.parseInt(period ?? '30d', 10) || 1)), tomorrow);
  }
}

function dateBefore(a: string, b: string): string {
  return [a, b].toSorted()[0] ?? a;
}

function comparedPeriod({ from, to }: Period, { compare }: Question, zone: string): Period {
  const isDays = [from, to].every((ms) => dayStart(localDate(ms, zone), zone) === ms);
  if (!isDays) return { from: from - (to - from), to: from };
  const [first, end] = [localDate(from, zone), localDate(to, zone)];
  const count = (Date.parse(end) - Date.parse(first)) / DAY_MS;
  if (compare === 'previous_period') return { from: dayStart(daysLater(first, -count), zone), to: from };
  const lastBefore = monthsLater(daysLater(end, -1), -12);
  return { from: dayStart(monthsLater(first, -12), zone), to: dayStart(daysLater(lastBefore, 1), zone) };
}

function matches({ operator, values }: Filter, value: string): boolean {
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
function matchesGlob(glob: string, value: string): boolean {
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
interface Selected {
  readonly hits: readonly ModelRow[];
  readonly visits: readonly ModelVisit[];
}

const within = ({ from, to }: Period, ms: number): boolean => ms >= from && ms < to;

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

function select(model: Model, { filters, bots }: Question, period: Period): Selected {
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

function numbersOf({ hits, visits }: Pick<Selected, 'hits' | 'visits'>): Numbers {
  const mean = (of: (visit: ModelVisit) => number, decimals: number): number | null =>
    visits.length === 0
      ? null
      : Number((visits.reduce((sum, visit) => sum + of(visit), 0) / visits.length).toFixed(decimals));
  return {
    visitors: new Set(hits.map(({ visitor }) => visitor).filter((visitor) => visitor !== '')).size,
    visits: visits.length,
    pageviews: hits.filter(({ name }) => name === '').length,
    events: hits.filter(({ name }) => name !== '').length,
    bounce_rate: mean(({ isBounce }) => Number(isBounce), 4),
    visit_duration: mean(({ seconds }) => seconds, 2),
    views_per_visit: mean(({ pageviews }) => pageviews, 2),
  };
}

export function expectedStats(model: Model, question: Question, now: number): object {
  const { zone } = model.history;
  const period = periodOf(question, zone, now, model.rows);
  const of = ({ from, to }: Period) => {
    const selected = select(model, question, { from, to });
    const starts = bucketsOf(from, to, zone, question.interval);
    const buckets = starts.map((start, index) => {
      const bucket = { from: start, to: starts[index + 1] ?? to };
      return {
        ...{ start, end: bucket.to },
        ...numbersOf({
          hits: selected.hits.filter(({ at }) => within(bucket, at)),
          visits: selected.visits.filter((visit) => within(bucket, visit.start)),
        }),
      };
    });
    return { from, to, totals: numbersOf(selected), buckets };
  };
  const present = of(period);
  if (question.compare === undefined) return { ...present, ...leftOut(model, question, period) };
  const before = of(comparedPeriod(period, question, zone));
  return {
    ...present,
    comparison: { ...before, change: changeOf(present.totals, before.totals) },
    ...leftOut(model, question, period),
  };
}

function changeOf(now: Numbers, before: Numbers): object {
  return Object.fromEntries(
    (Object.keys(now) as (keyof Numbers)[]).map((name) => {
      const [to, from] = [now[name], before[name]];
      return [name, to === null || from === null || from === 0 ? null : Number(((to - from) / from).toFixed(4))];
    }),
  );
}

export function expectedBreakdown(model: Model, question: Question, now: number): object {
  const { zone } = model.history;
  const { dimension, order, metrics, limit, page } = question;
  const period = periodOf(question, zone, now, model.rows);
  const numbersIn = (within: Period): ReadonlyMap<string, Numbers> => {
    const selected = select(model, question, within);
    const values = new Set([
      ...selected.hits.map((row) => dimensionValue(model, row, dimension)),
      ...(isOfVisit(dimension) ? selected.visits.map((visit) => visitValue(visit, dimension)) : []),
    ]);
    if (!LISTS_EMPTY.includes(dimension)) values.delete('');
    return new Map(
      [...values].map((value) => {
        const only: Filter = { dimension, operator: 'is', values: [value] };
        return [value, numbersOf(select(model, { ...question, filters: [...question.filters, only] }, within))];
      }),
    );
  };
  const [metric, direction] = order.split(':') as [keyof Numbers, string];
  const all = [...numbersIn(period)].toSorted(([a, left], [b, right]) => {
    const [x, y] = [left[metric], right[metric]];
    if (x !== y && (x === null || y === null)) return x === null ? 1 : -1;
    return (direction === 'desc' ? -1 : 1) * ((x ?? 0) - (y ?? 0)) || Buffer.compare(Buffer.from(a), Buffer.from(b));
  });
  const compared = question.compare === undefined ? undefined : comparedPeriod(period, question, zone);
  const before = compared === undefined ? undefined : numbersIn(compared);
  const none = numbersOf({ hits: [], visits: [] });
  const asked = (numbers: Numbers): Partial<Numbers> =>
    Object.fromEntries(Object.entries(numbers).filter(([name]) => metrics?.includes(name) ?? true));
  return {
    ...period,
    has_more: all.length > page * limit,
    ...(compared === undefined ? {} : { comparison: compared }),
    rows: all.slice((page - 1) * limit, page * limit).map(([value, numbers]) => ({
      value,
      ...asked(numbers),
      ...(before && { before: asked(before.get(value) ?? none) }),
    })),
    ...leftOut(model, question, period),
  };
}

/** The expected `left_out` of `explain=1` (docs/api.md): how many rows of the period the report counts, and how many it does not count and why. */
function leftOut(model: Model, question: Question, period: Period): object {
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

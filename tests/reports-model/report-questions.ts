import { UTM_TAGS } from '@weir/domain/acquisition/campaign-tags';
import fc from 'fast-check';
import { DAY_MS, daysLater, HOUR_MS, type Interval, localDate } from './local-time.ts';
import type { Model } from './model-rows.ts';
import { dimensionValue, doneValues, isDone, isOfVisit } from './model-values.ts';
import { AGENTS, ASKED_PATHS, BOT, BOT_REASON, EVENT_NAMES, LANGUAGES, LINKS, NETWORKS } from './sent-parts.ts';

const OPERATORS = ['is', 'is_not', 'contains', 'contains_not', 'matches', 'matches_not'] as const;
export interface Filter {
  readonly dimension: string;
  readonly operator: (typeof OPERATORS)[number];
  readonly values: readonly string[];
}

/** The part of a question that says which rows the report counts. Most reports have it. */
export interface ScopeQuestion {
  readonly period: string | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly bots: 'include' | 'exclude';
  readonly explain: boolean;
  readonly filters: readonly Filter[];
}

/** A request to `stats`, or, if `dimension` is not empty, to `breakdown`. */
export interface Question extends ScopeQuestion {
  readonly interval: Interval;
  /** Undefined: the time zone of the site. */
  readonly timezone: string | undefined;
  readonly compare: 'previous_period' | 'previous_year' | undefined;
  readonly dimension: string;
  readonly order: string;
  /** The metrics of each row of a breakdown. Undefined: all. */
  readonly metrics: readonly string[] | undefined;
  readonly limit: number;
  readonly page: number;
}

const linkValues = (name: string): readonly string[] => LINKS.map(({ values }) => values[name] ?? '');
const agentValues = (name: keyof (typeof BOT)['values']): readonly string[] =>
  [...AGENTS, BOT].map(({ values }) => values[name]);
const networkValues = (name: keyof (typeof NETWORKS)[number]['values']) => NETWORKS.map(({ values }) => values[name]);

/** Every dimension, with values for its filters. Most of these values can occur in a history. */
const VALUES: Readonly<Record<string, readonly string[]>> = {
  ...{ page: ASKED_PATHS, entry: ASKED_PATHS, exit: ASKED_PATHS, hostname: ['example.com'], language: LANGUAGES },
  ...Object.fromEntries(['source', 'channel', 'referrer', ...UTM_TAGS].map((name) => [name, linkValues(name)])),
  ...{ country: networkValues('country'), region: networkValues('region'), city: networkValues('city') },
  ...{ browser: agentValues('browser'), browser_version: agentValues('browser_version') },
  ...{ os: agentValues('os'), os_version: agentValues('os_version'), device: agentValues('device') },
  ...{ event: EVENT_NAMES, origin: ['collect', 'server', 'import'], bot: [BOT.bot] },
  bot_reason: [BOT_REASON, 'ai_crawler'],
  ...{ 'property:plan': ['pro', 'free', "o'x"], 'property:seats': ['0', '1', '2'] },
  ...{ 'property:trial': ['true', 'false'], 'property:cart.total': ['0', '1'], 'property:none': ['x'] },
  ...{ 'property:price': ['0.1', '1.5', '-2.75'], 'property:mixed': ['x', '7', 'true', '1.5'] },
  ...{ 'property:a:b': ['x', 'y'], 'property:currency': ['EUR', 'usd'], 'property:nothing': ['x'] },
  ...{ 'property:cart': ['x', '5'], 'property:Plan': ['pro'], "property:o'k\\{site:String}": ['x', 'y'] },
  // No row has these names, which ClickHouse could read as parts of other properties.
  ...{ 'property:^`cart`': ['x', 'y'], 'property:seats.:`Int64`': ['1'] },
};
export const DIMENSIONS: readonly string[] = Object.keys(VALUES);
/** The dimensions that exist only as filters, with values. */
const DONE_VALUES: Readonly<Record<string, readonly string[]>> = { done_event: EVENT_NAMES, viewed_page: ASKED_PATHS };
const DONE = Object.keys(DONE_VALUES);

/** Time zones of requests that name one. The time zone of the site can be among them. */
export const OTHER_ZONES = ['America/St_Johns', 'Asia/Kathmandu', 'Europe/Berlin'] as const;
const METRICS = ['visitors', 'visits', 'pageviews', 'events', 'bounce_rate', 'visit_duration', 'views_per_visit'];
/** Parts of the lines of an answer. */
export const PARTS = [
  { limit: 1000, page: 1 },
  { limit: 1000, page: 1 },
  { limit: 2, page: 1 },
  { limit: 1, page: 2 },
] as const;
const PERIODS = ['24h', 'today', 'yesterday', '7d', '7d', '30d', '90d', '12mo', 'month', 'year', 'all'];

const FILTER_DIMENSIONS: readonly string[] = [...DIMENSIONS, ...DONE, ...DONE, ...DONE];

/** Generates a filter. Most of its values occur in the history; otherwise most answers would be empty. */
const filterOn = (model: Model, dimensions = FILTER_DIMENSIONS): fc.Arbitrary<Filter> =>
  fc
    .record({
      picked: fc.array(fc.nat(), { minLength: 1, maxLength: 2 }),
      dimension: fc.constantFrom(...dimensions),
      fromHistory: fc.constantFrom(true, true, true, false),
      operator: fc.constantFrom(...OPERATORS),
      cut: fc.constantFrom('whole', 'start', 'end', 'inner'),
    })
    .map(({ dimension, operator, picked, fromHistory, cut }): Filter => {
      const held = model.rows.flatMap((row) =>
        isDone(dimension) ? doneValues(row, dimension) : [dimensionValue(model, row, dimension)],
      );
      const others = [...(VALUES[dimension] ?? DONE_VALUES[dimension] ?? []), 'unknown', ''];
      const known = fromHistory && held.length > 0 ? held : others;
      const chosen = picked.map((index) => known[index % known.length] ?? '');
      // Filters such as `done_event` do not allow an empty value.
      const values = isDone(dimension) ? chosen.map((value) => value || 'unknown') : chosen;
      if (operator === 'is' || operator === 'is_not') return { dimension, operator, values };
      const part = (value: string): string => {
        if (cut === 'start') return value.slice(0, 3);
        return cut === 'end' ? value.slice(-3) : cut === 'inner' ? value.slice(1, -1) : value;
      };
      const glob = (value: string): string => {
        if (cut === 'start') return `${value.slice(0, 2)}*`;
        return cut === 'end' ? `*${value.slice(-2)}` : cut === 'inner' ? `*${value.slice(1, 3)}*` : value;
      };
      const isGlob = operator === 'matches' || operator === 'matches_not';
      return { dimension, operator, values: values.map((value) => (isGlob ? glob(value) : part(value)) || 'x') };
    });

/** Generates a period: a name such as `7d`, dates that begin on a day of the history or the day after it, or moments that begin in the history. */
const period = fc.oneof(
  fc.record({ period: fc.constantFrom(...PERIODS) }),
  fc.record({ day: fc.constantFrom(0, 1, 1, 2, 3), days: fc.nat(2) }),
  fc.record({ fromMs: fc.integer({ min: 0, max: 2 * DAY_MS }), lengthMs: fc.integer({ min: 1, max: 3 * DAY_MS }) }),
);

export const question = (model: Model): fc.Arbitrary<Question> =>
  fc
    .record({
      period,
      interval: fc.constantFrom<Interval>('hour', 'day', 'week', 'month'),
      timezone: fc.constantFrom(undefined, undefined, undefined, ...OTHER_ZONES),
      compare: fc.constantFrom(undefined, undefined, 'previous_period', 'previous_year'),
      bots: fc.constantFrom('exclude', 'exclude', 'include'),
      explain: fc.constantFrom(true, false, false, false),
      filters: fc.oneof(
        { weight: 2, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.array(filterOn(model), { minLength: 1, maxLength: 3 }) },
      ),
      metric: fc.constantFrom('visitors', 'visitors', ...METRICS),
      direction: fc.constantFrom('desc', 'asc'),
      // A breakdown without metrics of visits uses other SQL. So some questions have only other metrics.
      metrics: fc.constantFrom(
        undefined,
        undefined,
        ['visitors'],
        ['pageviews', 'events'],
        ['events', 'visit_duration'],
      ),
      part: fc.constantFrom(...PARTS),
    })
    .map(({ period: span, part, metric, direction, compare, interval, ...others }): Question => {
      const isMoment = 'fromMs' in span || ('period' in span && span.period === '24h');
      const isLong = 'period' in span && ['90d', '12mo', 'year', 'all'].includes(span.period);
      return {
        ...others,
        ...part,
        period: 'period' in span ? span.period : undefined,
        ...spanOf(span, model.history.base, model.history.zone),
        interval: isLong && interval === 'hour' ? 'day' : interval,
        // If a period begins at a time of day, `previous_year` means the same local time a year before, which the model cannot compute.
        compare: isMoment && compare === 'previous_year' ? 'previous_period' : compare,
        dimension: '',
        order: `${metric}:${direction}`,
      };
    });

/**
 * Generates a question with bots that uses a dimension of visits. By `turn`, it is about the stats, or a breakdown by a dimension of visits, of rows
 * or of bots. Half of the questions have a filter that is true for bots only, or for people only.
 */
export const botsQuestion = (model: Model, turn: number): fc.Arbitrary<Question> => {
  const kind = turn % 4;
  const nth = Math.floor(turn / 4);
  const dimension = ['', DIMENSIONS.filter(isOfVisit), DIMENSIONS, ['bot', 'bot_reason']][kind] ?? '';
  return fc
    .record({
      asked: question(model),
      ofVisit: filterOn(model, DIMENSIONS.filter(isOfVisit)),
      ofBot: filterOn(model, ['bot', 'bot', 'bot_reason']),
      isOfBots: fc.boolean(),
      isFiltered: fc.boolean(),
    })
    .map(({ asked, ofVisit, ofBot, isOfBots, isFiltered }) => ({
      ...asked,
      bots: 'include',
      dimension: dimension === '' ? '' : (dimension[nth % dimension.length] ?? ''),
      filters: [
        ...(kind !== 1 || isFiltered ? [ofVisit] : []),
        ...(isOfBots ? [ofBot] : []),
        ...asked.filters.slice(0, 1),
      ],
    }));
};

/** Generates a breakdown by page. Its filters are on visits and pages, so slots count each visit once for each page (docs/decisions/0060). */
export const pagesQuestion = (model: Model): fc.Arbitrary<Question> =>
  fc
    .record({
      asked: question(model),
      filters: fc.array(filterOn(model, ['page', ...DIMENSIONS.filter(isOfVisit)]), { maxLength: 2 }),
      isFiltered: fc.boolean(),
    })
    .map(({ asked, filters, isFiltered }) => ({ ...asked, dimension: 'page', filters: isFiltered ? filters : [] }));

/**
 * Generates the part of a question that most reports share. In two of three questions, the period is the whole history, and most of these have no
 * filter: otherwise most answers of reports that count only a few rows would be empty.
 */
export function scopeQuestion(model: Model): fc.Arbitrary<ScopeQuestion> {
  const { base, zone } = model.history;
  return fc
    .record({
      asked: question(model),
      isWhole: fc.constantFrom(true, true, false),
      isFiltered: fc.constantFrom(true, false),
    })
    .map(({ asked: { period, from, to, bots, explain, filters }, isWhole, isFiltered }) => ({
      ...{ bots, explain, filters: isWhole && !isFiltered ? [] : filters },
      ...(isWhole ? { period: undefined, ...spanOf({ day: 0, days: 3 }, base, zone) } : { period, from, to }),
    }));
}

function spanOf(
  span:
    | { readonly period: string }
    | { readonly day: number; readonly days: number }
    | { readonly fromMs: number; readonly lengthMs: number },
  base: number,
  zone: string,
): Pick<Question, 'from' | 'to'> {
  if ('day' in span) {
    const first = daysLater(localDate(base + 12 * HOUR_MS, zone), span.day);
    return { from: first, to: daysLater(first, span.days) };
  }
  if (!('fromMs' in span)) return { from: undefined, to: undefined };
  const from = base + span.fromMs;
  return { from: new Date(from).toISOString(), to: new Date(from + span.lengthMs).toISOString() };
}

const escaped = (text: string): string => text.replace(/[\\,:]/g, '\\$&');

/** The query parameters of the part of a question that says which rows the report counts, and those of `more` that are not undefined. */
export function scopeQuery(
  { period, from, to, bots, explain, filters }: ScopeQuestion,
  more: Parameters = {},
): URLSearchParams {
  const nameOf = (name: string): string =>
    name.startsWith('property:') ? `property:${escaped(name.slice('property:'.length))}` : name;
  const query = new URLSearchParams();
  addTo(query, { period, from, to, bots });
  if (explain) query.append('explain', '1');
  for (const { dimension, operator, values } of filters) {
    query.append('filter', `${nameOf(dimension)}:${operator}:${values.map(escaped).join(',')}`);
  }
  addTo(query, more);
  return query;
}

type Parameters = Readonly<Record<string, string | number | undefined>>;

/** Appends those of these query parameters that are not undefined. */
export function addTo(query: URLSearchParams, added: Parameters): void {
  for (const [name, value] of Object.entries(added)) if (value !== undefined) query.append(name, String(value));
}

/** The path of a question in the admin API, after the part with the site, for example `/stats?period=7d`. */
export function pathOf(question: Question): string {
  const { interval, timezone, compare, dimension, order, metrics, limit, page } = question;
  const query = scopeQuery(question, { timezone, compare });
  if (dimension === '') {
    addTo(query, { interval });
    return `/stats?${query}`;
  }
  addTo(query, { dimension, order, metrics: metrics?.join(','), limit, page });
  return `/breakdown?${query}`;
}

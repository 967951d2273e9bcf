import fc from 'fast-check';
import { DAY_MS, HOUR_MS, MINUTE_MS } from './local-time.ts';
import { type Action, actingRows, actionForm, actionOf, isOfAction } from './model-actions.ts';
import { periodOf } from './model-periods.ts';
import type { Model, ModelRow } from './model-rows.ts';
import { leftOut, select, shareOf } from './model-select.ts';
import { type ReportModel, shownExplain, shownSpan } from './report-model.ts';
import { addTo, type ScopeQuestion, scopeQuery, scopeQuestion } from './report-questions.ts';

// This file computes the expected answers of `funnel` by the definitions of docs/stats.md (Funnels).

interface FunnelQuestion extends ScopeQuestion {
  readonly steps: readonly Action[];
  /** Undefined: the default. */
  readonly within: string | undefined;
  /** Whether the site saves the funnel, and the report names the saved funnel. */
  readonly isSaved: boolean;
  /** The ID of the saved funnel. Empty until it is saved. */
  readonly id: string;
}

const WITHIN = [undefined, '7d', '366d', '24h', '30m', '30m', '5m', '1s'] as const;
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };
const withinMs = (within = '7d'): number => Number(within.slice(0, -1)) * (UNIT_MS[within.slice(-1)] ?? 0);

/** Generates a question. In most funnels, the steps are rows of one visitor in the order of their times, so that visitors can reach them. */
function funnelQuestion(model: Model): fc.Arbitrary<FunnelQuestion> {
  const rows = actingRows(model)
    .filter(({ visitor }) => visitor !== '')
    .toSorted((a, b) => a.at - b.at);
  const rowsOf = (visitor: string | undefined) => rows.filter((row) => row.visitor === visitor);
  const busy = rows.filter(({ visitor }) => rowsOf(visitor).length > 1);
  // Two rows of a visitor with whole seconds between them, which can be exactly the longest time of a funnel.
  const pairs = busy.flatMap((first) =>
    rowsOf(first.visitor)
      .filter(({ at }) => at > first.at && (at - first.at) % 1000 === 0)
      .map((last) => ({ first, last })),
  );
  return fc
    .record({
      asked: scopeQuestion(model),
      someone: fc.nat(),
      first: fc.nat(),
      isInOrder: fc.constantFrom(true, true, true, false),
      further: fc.oneof(
        { weight: 3, arbitrary: fc.array(fc.nat(), { minLength: 1, maxLength: 2 }) },
        { weight: 1, arbitrary: fc.array(fc.nat(), { minLength: 1, maxLength: 7, size: 'max' }) },
      ),
      forms: fc.array(actionForm, { minLength: 8, maxLength: 8 }),
      within: fc.constantFrom(...WITHIN),
      isSaved: fc.constantFrom(true, false, false),
      isExact: fc.constantFrom(true, false, false, false),
    })
    .map(({ asked, someone, first, isInOrder, further, forms, within, isSaved, isExact }) => {
      const pair = pairs[someone % pairs.length];
      if (isExact && pair !== undefined) {
        const exactly = `${(pair.last.at - pair.first.at) / 1000}s`;
        const steps = [pair.first, pair.last].map((row) => actionOf(row, { cut: 'whole', other: null }));
        return { ...asked, steps, within: exactly, isSaved, id: '' };
      }
      const own = rowsOf(busy[someone % busy.length]?.visitor);
      const places = [first % Math.max(own.length - further.length, 1)];
      for (const pick of further) {
        const next = isInOrder ? (places.at(-1) ?? 0) + 1 + (pick % 2) : pick;
        places.push(next % Math.max(own.length, 1));
      }
      const steps = places.map((place, nth) => actionOf(own[place], forms[nth] ?? { cut: 'whole', other: null }));
      return { ...asked, steps, within, isSaved, id: '' };
    });
}

const stepText = ({ type, value }: Action): string => `${type}:${value}`;

export const FUNNEL_MODEL: ReportModel<FunnelQuestion> = {
  name: 'funnel',
  questions: 3,
  question: funnelQuestion,
  async prepare({ client }, site, asked) {
    if (!asked.isSaved) return asked;
    const { steps, within } = asked;
    const path = `/sites/${site}/funnels`;
    const earlier = (await client.must(200, 'GET', path)) as readonly { readonly funnel_id: string }[];
    for (const { funnel_id } of earlier) await client.must(200, 'DELETE', `${path}/${funnel_id}`);
    const body = { name: 'Funnel', steps: steps.map(stepText), ...(within === undefined ? {} : { within }) };
    const { funnel_id } = (await client.must(201, 'POST', path, body)) as { readonly funnel_id: string };
    return { ...asked, id: funnel_id };
  },
  path(asked) {
    const { steps, within, id } = asked;
    const query = scopeQuery(asked);
    if (id !== '') addTo(query, { funnel: id });
    else {
      for (const step of steps) query.append('step', stepText(step));
      addTo(query, { within });
    }
    return `/funnel?${query}`;
  },
  expected(model, asked, now) {
    const period = periodOf(asked, model.history.zone, now, model.rows);
    const { hits } = select(model, asked, period);
    const visitors = [...new Set(hits.map(({ visitor }) => visitor))].filter((visitor) => visitor !== '');
    const reached = visitors.map((one) =>
      stepsReached(
        hits.filter(({ visitor }) => visitor === one),
        asked,
      ),
    );
    const counts = asked.steps.map((_, index) => reached.filter((steps) => steps > index).length);
    return {
      ...period,
      steps: asked.steps.map((step, index) => {
        const before = counts[Math.max(index - 1, 0)] ?? 0;
        const own = counts[index] ?? 0;
        return {
          ...{ ...step, visitors: own, dropped: before - own },
          ...{ rate: shareOf(own, counts[0] ?? 0), step_rate: shareOf(own, before) },
        };
      }),
      conversion_rate: shareOf(counts.at(-1) ?? 0, counts[0] ?? 0),
      ...leftOut(model, asked, period),
    };
  },
  shown(data) {
    const { steps, conversion_rate } = data;
    return { ...shownSpan(data), steps, conversion_rate, ...shownExplain(data) };
  },
};

/**
 * The number of steps that a visitor reached in the best attempt. Each row of the first step begins an attempt. Each further step is the next row of
 * this step that is later than the row before it.
 */
function stepsReached(rows: readonly ModelRow[], { steps, within }: FunnelQuestion): number {
  const timesOf = steps.map((step) => rows.filter((row) => isOfAction(row, step)).map(({ at }) => at));
  const attempts = (timesOf[0] ?? []).map((start) => {
    let [reached, last] = [1, start];
    for (const times of timesOf.slice(1)) {
      const next = Math.min(...times.filter((at) => at > last));
      if (next - start > withinMs(within)) break;
      [reached, last] = [reached + 1, next];
    }
    return reached;
  });
  return Math.max(0, ...attempts);
}

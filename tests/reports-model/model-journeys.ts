import fc from 'fast-check';
import { periodOf } from './model-periods.ts';
import type { Model, ModelRow } from './model-rows.ts';
import { compareTexts, leftOut, select, spelled } from './model-select.ts';
import { type ReportModel, shownExplain, shownSpan } from './report-model.ts';
import { OTHER_ZONES, type ScopeQuestion, scopeQuery, scopeQuestion } from './report-questions.ts';
import { periodAtRow } from './row-times.ts';

// This file computes the expected answers of `journeys` by the definitions of docs/stats.md (Journeys).

const LIMIT_DEFAULT = 10;

interface JourneysQuestion extends ScopeQuestion {
  readonly page: string;
  /** Undefined: the default. */
  readonly limit: number | undefined;
  /** Undefined: the time zone of the site. */
  readonly timezone: string | undefined;
}

/** Generates a question. Most pages are viewed in the history. */
function journeysQuestion(model: Model): fc.Arbitrary<JourneysQuestion> {
  const pages = model.rows.filter(({ name }) => name === '').map(({ values }) => values.page ?? '');
  return fc
    .record({
      asked: scopeQuestion(model),
      atRow: fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: periodAtRow(model) }),
      picked: fc.nat(),
      isKnown: fc.constantFrom(true, true, true, true, true, true, true, false),
      limit: fc.constantFrom(undefined, undefined, 1, 2, 1000),
      timezone: fc.constantFrom(undefined, undefined, undefined, ...OTHER_ZONES),
    })
    .map(({ asked, atRow, picked, isKnown, limit, timezone }) => {
      const page =
        isKnown && pages.length > 0 ? (pages[picked % pages.length] ?? '') : picked % 2 === 0 ? '/api' : '/ü';
      // Weir does not join the parts of a bot's session, into which late hits can divide it.
      const bots = areBotsInOrder(model) ? asked.bots : 'exclude';
      return { ...asked, ...atRow, bots, page, limit, timezone };
    });
}

/** Whether the hits of each bot arrived in the order of their times. The rows of the model are in the order of arrival. */
function areBotsInOrder({ rows }: Model): boolean {
  const last = new Map<string, number>();
  for (const { visitor, at } of rows.filter(({ bot, origin }) => bot !== '' && origin !== 'server')) {
    if (at < (last.get(visitor) ?? at)) return false;
    last.set(visitor, at);
  }
  return true;
}

export const JOURNEYS_MODEL: ReportModel<JourneysQuestion> = {
  name: 'journeys',
  questions: 4,
  question: journeysQuestion,
  path(asked) {
    return `/journeys?${scopeQuery(asked, { path: asked.page, limit: asked.limit, timezone: asked.timezone })}`;
  },
  expected(model, asked, now) {
    const { page, limit = LIMIT_DEFAULT, timezone = model.history.zone } = asked;
    const period = periodOf(asked, timezone, now, model.rows);
    const steps = stepsAt(page, select(model, asked, period).hits);
    return {
      ...period,
      ...{ limit, views: steps.length, visits: new Set(steps.map(({ session }) => session)).size },
      previous: listOf(steps, 'previous').slice(0, limit),
      next: listOf(steps, 'next').slice(0, limit),
      ...leftOut(model, asked, period),
    };
  },
  shown(data) {
    const { limit, views, visits, previous, next } = data;
    return { ...shownSpan(data), limit, views, visits, previous, next, ...shownExplain(data) };
  },
};

/** A view of the page, with the pages directly before and after it in the same visit. Empty: the visit began or ended with this view. */
interface Step {
  readonly session: string;
  readonly previous: string;
  readonly next: string;
}

function stepsAt(page: string, hits: readonly ModelRow[]): readonly Step[] {
  const views = hits.filter(({ name, session, values }) => name === '' && session !== '' && values.page !== '');
  const pagesOf = new Map<string, string[]>();
  for (const { session, values } of views.toSorted((a, b) => a.at - b.at)) {
    const pages = pagesOf.get(session) ?? [];
    pagesOf.set(session, pages);
    // All spellings of the page count as one page.
    const viewed = spelled('page', page).includes(values.page ?? '') ? page : (values.page ?? '');
    if (pages.at(-1) !== viewed) pages.push(viewed);
  }
  return [...pagesOf].flatMap(([session, pages]) =>
    pages.flatMap((viewed, place) =>
      viewed === page ? [{ session, previous: pages[place - 1] ?? '', next: pages[place + 1] ?? '' }] : [],
    ),
  );
}

function listOf(steps: readonly Step[], side: 'previous' | 'next'): readonly object[] {
  const values = [...new Set(steps.map((step) => step[side]))];
  const lines = values.map((value) => {
    const own = steps.filter((step) => step[side] === value);
    return { value, views: own.length, visits: new Set(own.map(({ session }) => session)).size };
  });
  return lines.toSorted((a, b) => b.views - a.views || compareTexts(a.value, b.value));
}

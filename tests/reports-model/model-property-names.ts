import fc from 'fast-check';
import { periodOf } from './model-periods.ts';
import type { ModelRow } from './model-rows.ts';
import { compareTexts, countedOf, leftOut, select } from './model-select.ts';
import { propertyValues } from './model-values.ts';
import { type ReportModel, shownExplain, shownSpan } from './report-model.ts';
import { type ScopeQuestion, scopeQuery, scopeQuestion } from './report-questions.ts';

// This file computes the expected answers of `properties` by the definitions of docs/stats.md (Dimensions) and docs/properties.md. The values of
// properties are those of the dimension `property:NAME` of `breakdown`.

const LIMIT_DEFAULT = 100;

interface NamesQuestion extends ScopeQuestion {
  /** Undefined: the default. */
  readonly limit: number | undefined;
}

export const PROPERTIES_MODEL: ReportModel<NamesQuestion> = {
  name: 'properties',
  question: (model) =>
    fc
      .record({ asked: scopeQuestion(model), limit: fc.constantFrom(undefined, undefined, 1, 3, 1000) })
      .map(({ asked, limit }) => ({ ...asked, limit })),
  path(asked) {
    return `/properties?${scopeQuery(asked, { limit: asked.limit })}`;
  },
  expected(model, asked, now) {
    const period = periodOf(asked, model.history.zone, now, model.rows);
    const { limit = LIMIT_DEFAULT } = asked;
    const rowsOf = new Map<string, ModelRow[]>();
    for (const row of select(model, asked, period).hits) {
      for (const name of propertyValues(row).keys()) {
        if (isDimension(name)) rowsOf.set(name, [...(rowsOf.get(name) ?? []), row]);
      }
    }
    const all = [...rowsOf].map(([name, rows]) => ({ name, ...countedOf(rows) }));
    const sorted = all.toSorted(
      (a, b) => b.events - a.events || b.pageviews - a.pageviews || compareTexts(a.name, b.name),
    );
    return {
      ...period,
      has_more: sorted.length > limit,
      properties: sorted.slice(0, limit),
      ...leftOut(model, asked, period),
    };
  },
  shown(data) {
    const { has_more, properties } = data;
    return { ...shownSpan(data), has_more, properties, ...shownExplain(data) };
  },
};

/** Whether `property:NAME` accepts this name. */
function isDimension(name: string): boolean {
  return name !== '' && [...name].length <= 256 && [...name].every((char) => char >= ' ');
}

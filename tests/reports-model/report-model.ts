import type fc from 'fast-check';
import type { Model } from './model-rows.ts';
import type { Lane } from './report-lanes.ts';

/** The field `data` of an answer of the API. */
export type Answer = Readonly<Record<string, unknown>>;

/**
 * A report that the model can compute. `Q`: a question, which is a request to this report. The members are methods, because only then can a list
 * contain models with different types of questions.
 */
export interface ReportModel<Q = unknown> {
  readonly name: string;
  /** The number of questions for each history. Default: 1. */
  readonly questions?: number;
  /**
   * Generates a question that fits a history. `turn` is one more for each further question to this report, also from one history to the next. So a
   * question can use each value of a short list in turn.
   */
  question(model: Model, turn: number): fc.Arbitrary<Q>;
  /** Creates what the question needs in the site, for example goals. Resolves with the question that is then asked, which can contain their IDs. */
  prepare?(lane: Lane, site: string, asked: Q): Promise<Q>;
  /** True: the report is about all sites, and `path` is the whole path in the admin API. */
  readonly isOfAllSites?: boolean;
  /** The path in the admin API after the part with the site, for example `/stats?period=7d`. */
  path(asked: Q): string;
  /**
   * The expected answer, in the form of `shown`. `now`: the time of the request. `models`: the models of all sites of the test, by the ID of
   * the site. Only a report about all sites uses it.
   */
  expected(model: Model, asked: Q, now: number, models: ReadonlyMap<string, Model>): object;
  /** The answer of the API without the fields that repeat the request. Times are Unix milliseconds. */
  shown(data: Answer): object;
}

/** The answer's period. */
export const shownSpan = ({ from, to }: Answer): object => shownTimes({ from, to }, 'from', 'to');

/** The answer's numbers of rows that are left out, if the request had `explain=1`. */
export function shownExplain({ explain }: Answer): object {
  return explain === undefined ? {} : { left_out: (explain as { readonly left_out: unknown }).left_out };
}

/** The object with these times as Unix milliseconds. */
export function shownTimes(data: Answer, ...names: readonly string[]): object {
  return { ...data, ...Object.fromEntries(names.map((name) => [name, Date.parse(String(data[name]))])) };
}

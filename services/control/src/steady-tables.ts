import { setTimeout as pause } from 'node:timers/promises';
import { DependencyError, isDependencyError } from '@weir/domain/errors';
import type { Analytics } from '@weir/ports/analytics';
import { createExpectedAnswers, type ExpectedAnswers } from './answers/expected-answers.ts';
import { createJoinedWork, createSharedWork, type SharedAnswer } from './answers/joined-work.ts';
import { rowsText } from './answers/rows-text.ts';
import type { RequestContext } from './http/request-context.ts';

export type ReadableTables = Pick<Analytics, 'select' | 'userQuery' | 'highestRawOffset'>;
type QueryParams = Readonly<Record<string, unknown>>;
type QueryAnswer = ReturnType<Analytics['userQuery']>;
export interface ReportTables extends Pick<Analytics, 'userQuery'> {
  /**
   * Like `userQuery`. But if the same query with the same `version` was begun a short time ago, it resolves with the answer of that query. `version`:
   * a text that the caller has read from the tables, and that changes when the answer changes. `isCertain`: whether it always does, so that the
   * answer can be shared for longer.
   */
  readonly sharedQuery?: (query: string, params: QueryParams, version: string, isCertain: boolean) => QueryAnswer;
  /**
   * Like `userQuery`, for a query whose answer seldom changes. Two answers with the same rows in different orders are equal. If the last two answers
   * were equal, the call resolves with this answer at once, and the query runs at the same time. If the new answer differs, `SteadyTables.read` calls
   * its work again. In this call, the query resolves with the new answer, and all other steady queries wait for their new answers. Several calls
   * share one run of the query, if the run begins after all of these calls.
   */
  readonly steadyQuery?: (query: string, params: QueryParams) => QueryAnswer;
}

/**
 * Runs the queries of the admin API, except those of exports. A swap (see docs/exactly-once.md) exchanges all tables for those of the next
 * generation. An answer never mixes rows of two generations.
 */
export interface SteadyTables {
  /**
   * Resolves with the result of `work`, whose queries all saw the same generation of the tables. It calls `work` again if the tables were exchanged
   * during `work`, or if a `steadyQuery` resolved with an answer that has changed. Therefore `work` must only read. Rejects with `generation_changed`
   * if an exchange takes longer than `EXCHANGE_WAIT_MS`. The queries of `work` belong to the request of `context`: they are cancelled with this
   * request, and its `timing` includes their time. They count as reports (`isReport`), unless their options say otherwise. If the
   * `work` of a request fails, its running calls of `userQuery` and `sharedQuery` are cancelled. `read` waits for its steady queries.
   */
  read<T>(work: (tables: ReadableTables & ReportTables) => Promise<T>, context?: RequestContext): Promise<T>;
}

const SHARED_ANSWER_MS = 2_000;
/** A person who opens a dashboard and then selects filters asks about the same period for some minutes. */
const CERTAIN_ANSWER_MS = 120_000;
/** Answers with more rows are shared only for `SHARED_ANSWER_MS`, and never expected. Up to 100 shared and 100 expected answers are in memory. */
const ROWS_KEPT_MAX = 1_000;
const sharedMsOf =
  (isCertain: boolean) =>
  ({ rows }: Awaited<QueryAnswer>): number =>
    isCertain && rows.length <= ROWS_KEPT_MAX ? CERTAIN_ANSWER_MS : SHARED_ANSWER_MS;
/** The signal of a caller without a request. */
const NEVER = new AbortController().signal;
const CHECK_EVERY_MS = 50;
const TRIES_MAX = 100;
/** How long a query waits while tables are being exchanged. An exchange takes less than a second, or more if large dictionaries are reloaded. */
const EXCHANGE_WAIT_MS = CHECK_EVERY_MS * TRIES_MAX;

export function createSteadyTables(
  analytics: ReadableTables & Pick<Analytics, 'generation'>,
  clock: () => number,
): SteadyTables {
  const shared = createSharedWork<Awaited<QueryAnswer>>(clock);
  const joined = createJoinedWork<Awaited<QueryAnswer>>(clock);
  const expected = createExpectedAnswers(textOfRows);
  /**
   * The generation that was read last. An old value is safe, because a generation never becomes current again: if it is also the current one after
   * `work`, the tables were not exchanged during `work`.
   */
  let known: number | undefined;

  /** Undefined while tables are being exchanged. */
  async function generation(): Promise<number | undefined> {
    try {
      known = await analytics.generation();
      return known;
    } catch (error) {
      if (isDependencyError(error, 'generation_changed')) return undefined;
      throw error;
    }
  }

  /** The tables for one attempt of `read`, which began while `before` was the current generation. */
  function tablesOf(attempt: Attempt, before: number, context: RequestContext | undefined) {
    const timed: Timed = context === undefined ? (query) => query : timedBy(context.timing);
    const answerOf = async (asked: Promise<SharedAnswer<Awaited<QueryAnswer>>>) => (await timed(asked)).answer;
    const run = (query: string, params: QueryParams) => (signal: AbortSignal) =>
      analytics.userQuery(query, params, { isReport: true, signal });
    const ofRead = context?.signal ?? NEVER;
    // The queries of an attempt, except steady queries, are cancelled with the request, or when the attempt fails, or when a steady query has a new
    // answer. `NEVER` is not passed to `AbortSignal.any`: in Node 20, a signal keeps a reference to each signal that was made from it.
    const ofAttempt = ofRead === NEVER ? attempt.abort.signal : AbortSignal.any([ofRead, attempt.abort.signal]);
    const tables: ReadableTables & ReportTables = {
      ...(context === undefined ? analytics : ofRequest(analytics, context, ofAttempt)),
      sharedQuery(query, params, version, isCertain) {
        const question = JSON.stringify([before, version, query, params]);
        const asking = { signal: ofAttempt, sharedMs: sharedMsOf(isCertain) };
        return answerOf(shared.ask(question, asking, run(query, params)));
      },
      steadyQuery(query, params) {
        const question = JSON.stringify([before, query, params]);
        const ask = () => answerOf(joined.ask(question, ofRead, run(query, params)));
        return likelyAnswer(expected, question, ask, attempt);
      },
    };
    return tables;
  }

  return {
    async read(work, context) {
      let checks: Checks = new Map();
      let expects = true;
      for (let tries = 0; tries < TRIES_MAX; tries++) {
        const before = known ?? (await generation());
        if (before === undefined) {
          await pause(CHECK_EVERY_MS);
          continue;
        }
        const attempt: Attempt = { abort: new AbortController(), isOutdated: false, checks, expects };
        const outcome = await settled(work(tablesOf(attempt, before, context)));
        if ('error' in outcome) attempt.abort.abort();
        const checked = await settled(Promise.all(checks.values()));
        const after = await generation();
        if (after !== before) {
          // The checks may have read other tables, so `read` ignores their answers and errors.
          checks = new Map();
          if (after === undefined) await pause(CHECK_EVERY_MS);
          continue;
        }
        // Without the answers of all checks, the outcome could be wrong.
        if ('error' in checked) throw checked.error;
        if (!attempt.isOutdated) {
          if ('error' in outcome) throw outcome.error;
          return outcome.value;
        }
        // After a change, other answers have probably changed too. If they were expected, each of them could cause one more attempt.
        expects = false;
      }
      const message = `the tables have been exchanged for more than ${EXCHANGE_WAIT_MS / 1000} s: send the request again`;
      throw new DependencyError('generation_changed', message);
    },
  };
}

/** The run of each steady query in a call of `read`. It shows whether an expected answer was right. Attempts on the same generation share it. */
type Checks = Map<string, QueryAnswer>;

interface Attempt {
  readonly abort: AbortController;
  isOutdated: boolean;
  readonly checks: Checks;
  /** Whether the attempt uses expected answers. */
  readonly expects: boolean;
}

/**
 * If the checks already have a run of the query, resolves with its answer. Otherwise calls `ask`, and resolves with the expected answer if there is
 * one, or else with that of `ask`. Aborts the attempt if the answer of `ask` differs from the expected answer.
 */
function likelyAnswer(
  expected: ExpectedAnswers<Awaited<QueryAnswer>>,
  question: string,
  ask: () => QueryAnswer,
  attempt: Attempt,
): QueryAnswer {
  const known = attempt.checks.get(question);
  if (known !== undefined) return known;
  const likely = attempt.expects ? expected.of(question) : undefined;
  const asked = ask();
  attempt.checks.set(question, asked);
  const learned = asked.then((answer) => {
    if (!expected.learn(question, answer, likely) && likely !== undefined) {
      attempt.isOutdated = true;
      attempt.abort.abort();
    }
    return answer;
  });
  if (likely === undefined) return learned;
  // `read` waits for `asked`, and throws its error.
  learned.catch(() => attempt.abort.abort());
  return Promise.resolve(likely);
}

function textOfRows({ rows }: Awaited<QueryAnswer>): string | undefined {
  return rows.length > ROWS_KEPT_MAX ? undefined : rowsText(rows);
}

async function settled<T>(work: Promise<T>): Promise<{ readonly value: T } | { readonly error: unknown }> {
  try {
    return { value: await work };
  } catch (error) {
    return { error };
  }
}

type Timed = <T>(query: Promise<T>) => Promise<T>;

function timedBy(timing: RequestContext['timing']): Timed {
  return async (query) => {
    const startedAt = performance.now();
    try {
      return await query;
    } finally {
      timing.databaseMs += performance.now() - startedAt;
    }
  };
}

function ofRequest(tables: ReadableTables, { timing }: RequestContext, signal: AbortSignal): ReadableTables {
  const timed = timedBy(timing);
  return {
    select: (query, params) => timed(tables.select(query, params)),
    userQuery: (query, params, options) =>
      timed(tables.userQuery(query, params, { isReport: true, ...options, signal })),
    highestRawOffset: (logId, partition) => timed(tables.highestRawOffset(logId, partition)),
  };
}

import { setTimeout as pause } from 'node:timers/promises';
import { DependencyError, isDependencyError } from '@weir/domain/errors';
import type { Analytics } from '@weir/ports/analytics';
import type { RequestContext } from './http/request-context.ts';
import { createJoinedWork, createSharedWork, type SharedAnswer } from './joined-work.ts';

export type ReadableTables = Pick<Analytics, 'select' | 'userQuery' | 'highestRawOffset'>;
type QueryParams = Readonly<Record<string, unknown>>;
type QueryAnswer = ReturnType<Analytics['userQuery']>;
export interface ReportTables extends Pick<Analytics, 'userQuery'> {
  /**
   * Like `userQuery`. But if the same query with the same `version` was begun a short time ago, it resolves with the answer of that query.
   * `version`: a text that the caller has read from the tables, and that changes when the answer changes. `isCertain`: whether it always does, so that
   * the answer can be shared for longer.
   */
  readonly sharedQuery?: (query: string, params: QueryParams, version: string, isCertain: boolean) => QueryAnswer;
  /** Like `userQuery`. But if the same query is already running, the call waits until it ends. All calls that wait share the next run. */
  readonly joinedQuery?: (query: string, params: QueryParams) => QueryAnswer;
}

/**
 * Runs the queries of the admin API, except those of exports. A swap (see docs/exactly-once.md) exchanges all tables for those of the next
 * generation. An answer never mixes rows of two generations.
 */
export interface SteadyTables {
  /**
   * Resolves with the result of `work`, whose queries all saw the same generation of the tables. If the tables were exchanged during `work`, it calls
   * `work` again, so `work` must only read. Rejects with `generation_changed` if an exchange takes longer than `EXCHANGE_WAIT_MS`. The queries of
   * `work` belong to the request of `context`: they are cancelled with this request, and its `timing` includes their time. They count as reports
   * (`isReport`), unless their options say otherwise.
   */
  read<T>(work: (tables: ReadableTables & ReportTables) => Promise<T>, context?: RequestContext): Promise<T>;
}

const SHARED_ANSWER_MS = 2_000;
/** A person who opens a dashboard and then selects filters asks about the same period for some minutes. */
const CERTAIN_ANSWER_MS = 120_000;
/** Longer answers are shared only for `SHARED_ANSWER_MS`, because up to 100 answers are in memory. */
const CERTAIN_ROWS_MAX = 1_000;
const sharedMsOf =
  (isCertain: boolean) =>
  ({ rows }: Awaited<QueryAnswer>): number =>
    isCertain && rows.length <= CERTAIN_ROWS_MAX ? CERTAIN_ANSWER_MS : SHARED_ANSWER_MS;
/** The signal of a caller without a request. */
const NEVER = new AbortController().signal;
const CHECK_EVERY_MS = 50;
const TRIES_MAX = 100;
/** How long a query waits while tables are being exchanged. An exchange takes less than a second, or more if large dictionaries are reloaded. */
export const EXCHANGE_WAIT_MS = CHECK_EVERY_MS * TRIES_MAX;

export function createSteadyTables(
  analytics: ReadableTables & Pick<Analytics, 'generation'>,
  clock: () => number,
): SteadyTables {
  const shared = createSharedWork<Awaited<QueryAnswer>>(clock);
  const joined = createJoinedWork<Awaited<QueryAnswer>>(clock);
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

  return {
    async read(work, context) {
      const tables = context === undefined ? analytics : ofRequest(analytics, context);
      const timed: Timed = context === undefined ? (query) => query : timedBy(context.timing);
      const signal = context?.signal ?? NEVER;
      for (let tries = 0; tries < TRIES_MAX; tries++) {
        const before = known ?? (await generation());
        if (before !== undefined) {
          const run = (query: string, params: QueryParams) => (signal: AbortSignal) =>
            analytics.userQuery(query, params, { isReport: true, signal });
          const answerOf = async (asked: Promise<SharedAnswer<Awaited<QueryAnswer>>>) => (await timed(asked)).answer;
          const outcome = await settled(
            work({
              ...tables,
              sharedQuery: (query, params, version, isCertain) => {
                const asking = { signal, sharedMs: sharedMsOf(isCertain) };
                return answerOf(
                  shared.ask(JSON.stringify([before, version, query, params]), asking, run(query, params)),
                );
              },
              joinedQuery: (query, params) =>
                answerOf(joined.ask(JSON.stringify([before, query, params]), signal, run(query, params))),
            }),
          );
          const after = await generation();
          if (after === before) {
            if ('error' in outcome) throw outcome.error;
            return outcome.value;
          }
          if (after !== undefined) continue;
        }
        await pause(CHECK_EVERY_MS);
      }
      const message = `the tables have been exchanged for more than ${EXCHANGE_WAIT_MS / 1000} s: send the request again`;
      throw new DependencyError('generation_changed', message);
    },
  };
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

function ofRequest(tables: ReadableTables, { signal, timing }: RequestContext): ReadableTables {
  const timed = timedBy(timing);
  return {
    select: (query, params) => timed(tables.select(query, params)),
    userQuery: (query, params, options) =>
      timed(tables.userQuery(query, params, { isReport: true, ...options, signal })),
    highestRawOffset: (logId, partition) => timed(tables.highestRawOffset(logId, partition)),
  };
}

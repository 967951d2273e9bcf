import { setTimeout as pause } from 'node:timers/promises';
import { DependencyError } from '@weir/domain/errors';
import type { Analytics } from '@weir/ports/analytics';

/** How long a call waits for ClickHouse before Weir checks whether ClickHouse responds, and the time between two checks. */
const CHECK_EVERY_MS = 3_000;
/** If ClickHouse does not answer a check within this time, Weir treats it as hanging. */
const RESPOND_WITHIN_MS = 12_000;
/** After a failed check, a new call waits this long for a response before it fails. */
const RESPOND_AGAIN_WITHIN_MS = 1_000;

export type RespondingTables = Pick<
  Analytics,
  'select' | 'userQuery' | 'streamQuery' | 'highestRawOffset' | 'generation' | 'runningInsertsEnd'
>;

/**
 * Wraps the methods that read from ClickHouse, for the admin API. While ClickHouse responds to checks, a call can take as long as its own time limit
 * allows. If ClickHouse stops responding (the process is stopped, the machine is unreachable), all calls that wait reject with
 * `analytics_unavailable` after about 15 s, or after up to 27 s if they began during a check. Until ClickHouse responds again, new calls reject after
 * a second.
 */
export function createRespondingTables(analytics: RespondingTables & Pick<Analytics, 'responds'>): RespondingTables {
  /** The calls that wait for ClickHouse. Each function rejects its call. */
  const waiting = new Set<(error: DependencyError) => void>();
  let isWatching = false;
  let isHanging = false;

  const responds = (withinMs: number): Promise<boolean> =>
    analytics.responds(withinMs).then(
      () => true,
      () => false,
    );

  /** Checks regularly while calls wait. A failed check rejects only the calls that had begun before this check. */
  async function watch(): Promise<void> {
    isWatching = true;
    while (waiting.size > 0) {
      await pause(CHECK_EVERY_MS, undefined, { ref: false });
      const checked = [...waiting];
      isHanging = checked.length > 0 && !(await responds(RESPOND_WITHIN_MS));
      if (isHanging) for (const fail of checked) fail(hangs());
    }
    isWatching = false;
  }

  async function guarded<T>(call: (hung: AbortSignal) => Promise<T>): Promise<T> {
    if (isHanging) isHanging = !(await responds(RESPOND_AGAIN_WITHIN_MS));
    if (isHanging) throw hangs();
    const abort = new AbortController();
    return new Promise<T>((resolve, reject) => {
      const fail = (error: DependencyError): void => {
        waiting.delete(fail);
        reject(error);
        abort.abort(error);
      };
      waiting.add(fail);
      call(abort.signal)
        .then(resolve, reject)
        .finally(() => waiting.delete(fail));
      if (!isWatching) void watch();
    });
  }

  return {
    select: (query, params) => guarded(() => analytics.select(query, params)),
    generation: () => guarded(() => analytics.generation()),
    highestRawOffset: (logId, partition) => guarded(() => analytics.highestRawOffset(logId, partition)),
    runningInsertsEnd: (database) => guarded(() => analytics.runningInsertsEnd(database)),
    streamQuery: (query, params, options) =>
      guarded(async (hung) => {
        const { signal } = options;
        const either = signal === undefined ? hung : AbortSignal.any([signal, hung]);
        const stream = await analytics.streamQuery(query, params, { ...options, signal: either });
        // This call was already rejected, so no code reads the stream.
        if (hung.aborted) stream.destroy();
        return stream;
      }),
    userQuery: (query, params, { signal, ...options } = {}) =>
      guarded((hung) =>
        analytics.userQuery(query, params, {
          ...options,
          signal: signal === undefined ? hung : AbortSignal.any([signal, hung]),
        }),
      ),
  };
}

function hangs(): DependencyError {
  const seconds = RESPOND_WITHIN_MS / 1000;
  return new DependencyError(
    'analytics_unavailable',
    `ClickHouse does not respond: it did not answer a check within ${seconds} s. Check that its process runs and that its disk works, or restart it. Records are accepted meanwhile.`,
  );
}

import { isDependencyError } from '@weir/domain/errors';
import type { Logger } from '@weir/runtime/logger';
import { createDriftMetric, type Metrics } from '@weir/runtime/prometheus-metrics';

const DRIFTED = 'settings of an engine differ from what exactly-once needs: see the field drift';

/** An engine whose settings an operator can change to values that break exactly-once. */
export interface GuardRail {
  readonly engine: string;
  /**
   * The checks start when this promise resolves. If it rejects, the engine is not checked. If it is undefined, the checks start at once.
   */
  readonly ready?: Promise<void>;
  /**
   * Returns one line for each setting that differs. Rejects while the engine is unavailable: an unavailable engine does not count as a difference.
   */
  drift(): Promise<readonly string[]>;
}

/** The result of the last check of an engine. A check that fails because the engine is unavailable does not count. */
export interface GuardRailStatus {
  readonly engine: string;
  /** The time of the check in Unix milliseconds. Undefined before the first check. */
  readonly checkedAt: number | undefined;
  readonly drift: readonly string[];
}

export interface GuardRails {
  /** The last checks, in the order of the engines. */
  status(): readonly GuardRailStatus[];
  close(): void;
}

export interface GuardRailDeps {
  readonly intervalMs: number;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Checks the settings of the engines on which exactly-once depends, now and at each interval. If a setting is wrong, writes an error to the log, and
 * sets `weir_engine_drift` above 0 until an operator corrects the setting. With some wrong settings, the adapters refuse to start.
 */
export function watchGuardRails(rails: readonly GuardRail[], deps: GuardRailDeps): GuardRails {
  const { intervalMs, clock, logger, metrics } = deps;
  const setMetric = createDriftMetric(metrics);
  const checked = new Map<string, GuardRailStatus>();
  const report = (engine: string, drift: readonly string[]): void => {
    setMetric(engine, drift.length);
    checked.set(engine, { engine, checkedAt: clock(), drift });
    if (drift.length > 0) logger.error({ engine, drift }, DRIFTED);
  };
  const check = async ({ engine, drift }: GuardRail): Promise<void> => {
    try {
      report(engine, await drift());
    } catch (error) {
      if (!isDependencyError(error)) throw error;
      // With this code, the event log is available but damaged, for example because a topic is missing. This counts as drift.
      if (error.code === 'event_log_damaged') {
        report(engine, [error.message]);
        return;
      }
      logger.warn(
        { engine, code: error.code },
        'could not check the settings of an engine: the next check tries again',
      );
    }
  };
  const watched: GuardRail[] = [];
  const checking = new Set<GuardRail>();
  const checkOnce = async (rail: GuardRail): Promise<void> => {
    if (checking.has(rail)) return;
    checking.add(rail);
    await check(rail);
    checking.delete(rail);
  };
  for (const rail of rails) {
    const watch = (): Promise<void> => {
      watched.push(rail);
      return checkOnce(rail);
    };
    // The code that starts the engine handles a rejection of `ready`.
    (rail.ready ?? Promise.resolve()).then(watch, () => undefined);
  }
  const timer = setInterval(() => {
    for (const rail of watched) void checkOnce(rail);
  }, intervalMs);
  timer.unref();
  return {
    status: () => rails.map(({ engine }) => checked.get(engine) ?? { engine, checkedAt: undefined, drift: [] }),
    close: () => clearInterval(timer),
  };
}

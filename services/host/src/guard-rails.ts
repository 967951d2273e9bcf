import { isDependencyError } from '@weir/domain/errors';
import type { Logger } from '@weir/runtime/logger';
import { createDriftMetric, type Metrics } from '@weir/runtime/metrics';

const NOT_AS_NEEDED = 'an engine is not set as exactly-once needs it';

/** An engine whose settings can drift from what exactly-once needs. */
export interface GuardRail {
  readonly engine: string;
  /** From when on it is looked at; where this rejects, never. Default: at once. */
  readonly ready?: Promise<void>;
  /** What differs now, one line each; empty: all is well. Rejects while the engine is away, which is not drift. */
  drift(): Promise<readonly string[]>;
}

export interface GuardRailDeps {
  readonly intervalMs: number;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

/**
 * Compares the engines' settings with what exactly-once needs, now and every so often. Drift is an alarm: an error in the log
 * and `weir_engine_drift` above 0, until it is mended. (Settings that make a start pointless are refused by the adapters.)
 */
export function watchGuardRails(rails: readonly GuardRail[], deps: GuardRailDeps): { close(): void } {
  const { intervalMs, logger, metrics } = deps;
  const count = createDriftMetric(metrics);
  const check = async ({ engine, drift }: GuardRail): Promise<void> => {
    try {
      const found = await drift();
      count(engine, found.length);
      if (found.length > 0) logger.error({ engine, drift: found }, NOT_AS_NEEDED);
    } catch (error) {
      if (!isDependencyError(error)) throw error;
      // Not away, but not what it was: a topic is gone.
      if (error.code === 'event_log_damaged') {
        count(engine, 1);
        logger.error({ engine, drift: [error.message] }, NOT_AS_NEEDED);
        return;
      }
      logger.warn({ engine, code: error.code }, 'the settings of an engine could not be checked');
    }
  };
  const watched: GuardRail[] = [];
  const underWay = new Set<GuardRail>();
  const look = async (rail: GuardRail): Promise<void> => {
    if (underWay.has(rail)) return;
    underWay.add(rail);
    await check(rail);
    underWay.delete(rail);
  };
  for (const rail of rails) {
    const watch = (): Promise<void> => {
      watched.push(rail);
      return look(rail);
    };
    // A rejection is the business of whoever starts the engine.
    (rail.ready ?? Promise.resolve()).then(watch, () => undefined);
  }
  const timer = setInterval(() => {
    for (const rail of watched) void look(rail);
  }, intervalMs);
  timer.unref();
  return { close: () => clearInterval(timer) };
}

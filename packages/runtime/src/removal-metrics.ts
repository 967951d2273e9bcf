import { Gauge } from 'prom-client';
import type { Metrics } from './prometheus-metrics.ts';

export interface RetentionMetrics {
  /** Sets the time (Unix milliseconds) at which no expired row was left in the tables. */
  done(at: number): void;
}

/** `startedAt`: the value of the metric until the first call of `done`, in Unix milliseconds. */
export function createRetentionMetrics(registry: Metrics, startedAt: number): RetentionMetrics {
  const done = new Gauge({
    name: 'weir_retention_done_timestamp_seconds',
    help: 'When this process last found that no expired row was left (Unix time). Before that: when it started.',
    registers: [registry],
  });
  done.set(startedAt / 1000);
  return { done: (at) => done.set(at / 1000) };
}

export interface ErasureMetrics {
  /** Sets the number of open erasures whose last attempt in this process has failed. */
  failing(erasures: number): void;
}

export function createErasureMetrics(registry: Metrics): ErasureMetrics {
  const failing = new Gauge({
    name: 'weir_erasures_failing',
    help: 'Open erasures whose last attempt in this process has failed. They are tried again.',
    registers: [registry],
  });
  return { failing: (erasures) => failing.set(erasures) };
}

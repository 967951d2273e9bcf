import { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Everything that /metrics shows. One per process, made in main and handed down. */
export type Metrics = Registry;

export function createMetrics(): Metrics {
  return new Registry();
}

/** What a consuming role counts. Labels: `role`, `partition`. */
export interface ConsumeMetrics {
  /** Records dealt with, repeats included. */
  records(partition: number, count: number): void;
  /** Records that had been dealt with before and were skipped or muted. */
  repeats(partition: number, count: number): void;
  batch(partition: number, seconds: number): void;
  failure(partition: number, code: string): void;
  alarm(partition: number): void;
  dead(partition: number): void;
  /** Age of the oldest record not dealt with yet. */
  delay(partition: number, seconds: number): void;
  /** The partition is taken away: its delay is no longer known here. */
  released(partition: number): void;
}

export function createConsumeMetrics(registry: Metrics, role: 'enricher' | 'writer'): ConsumeMetrics {
  const counter = (name: string, help: string, labels: readonly string[] = []): Counter =>
    (registry.getSingleMetric(name) as Counter | undefined) ??
    new Counter({ name, help, labelNames: ['role', 'partition', ...labels], registers: [registry] });

  const records = counter('weir_consumed_records_total', 'Records dealt with.');
  const repeats = counter('weir_repeated_records_total', 'Records that had been dealt with before.');
  const batches = counter('weir_batches_total', 'Batches written to the next stage.');
  const failures = counter('weir_consume_failures_total', 'Failures that are retried.', ['code']);
  const alarms = counter('weir_alarms_total', 'Times a partition was stopped because something is wrong.');
  const dead = counter('weir_dead_rows_total', 'Rows that ClickHouse refused.');
  const seconds =
    (registry.getSingleMetric('weir_batch_seconds') as Histogram | undefined) ??
    new Histogram({
      name: 'weir_batch_seconds',
      help: 'Time of a batch: enricher from read to commit, writer of the insert.',
      labelNames: ['role'],
      buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers: [registry],
    });
  const delay =
    (registry.getSingleMetric('weir_consume_delay_seconds') as Gauge | undefined) ??
    new Gauge({
      name: 'weir_consume_delay_seconds',
      help: 'Age of the oldest record of the batch under way.',
      labelNames: ['role', 'partition'],
      registers: [registry],
    });

  return {
    records: (partition, count) => records.inc({ role, partition }, count),
    repeats: (partition, count) => repeats.inc({ role, partition }, count),
    batch(partition, elapsed) {
      batches.inc({ role, partition });
      seconds.observe({ role }, elapsed);
    },
    failure: (partition, code) => failures.inc({ role, partition, code }),
    alarm: (partition) => alarms.inc({ role, partition }),
    dead: (partition) => dead.inc({ role, partition }),
    delay: (partition, age) => delay.set({ role, partition }, age),
    released: (partition) => delay.remove({ role, partition }),
  };
}

/** Counts, per engine, the settings that are not what exactly-once needs. */
export function createDriftMetric(registry: Metrics): (engine: string, settings: number) => void {
  const drift = new Gauge({
    name: 'weir_engine_drift',
    help: 'Settings of an engine that are not what exactly-once needs.',
    labelNames: ['engine'],
    registers: [registry],
  });
  return (engine, settings) => drift.set({ engine }, settings);
}

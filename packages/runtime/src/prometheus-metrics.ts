import {
  AggregatorRegistry,
  Counter,
  Gauge,
  Histogram,
  type MetricObjectWithValues,
  type MetricValue,
  Registry,
} from 'prom-client';

/** The metrics of one thread or process. GET /metrics returns those of all threads and gateway processes. */
export type Metrics = Registry;

export function createMetrics(): Metrics {
  return new Registry();
}

/** Returns the gauge with this name. Creates it if the registry does not have it yet. */
export function gaugeOf(registry: Metrics, name: string, help: string, labelNames: readonly string[] = []): Gauge {
  return (
    (registry.getSingleMetric(name) as Gauge | undefined) ??
    new Gauge({ name, help, labelNames: [...labelNames], registers: [registry] })
  );
}

/** Returns the counter with this name. Creates it if the registry does not have it yet. */
export function counterOf(registry: Metrics, name: string, help: string, labelNames: readonly string[] = []): Counter {
  return (
    (registry.getSingleMetric(name) as Counter | undefined) ??
    new Counter({ name, help, labelNames: [...labelNames], registers: [registry] })
  );
}

/** The values of the metrics of one thread or process, in a form that can be sent to another one. */
export type ThreadMetrics = readonly MetricObjectWithValues<MetricValue<string>>[];

export async function readMetrics(metrics: Metrics): Promise<ThreadMetrics> {
  return await metrics.getMetricsAsJSON();
}

/** Returns the text of /metrics for several threads and processes. Values of the same metric with the same labels are added. */
export function joinMetrics(threads: readonly ThreadMetrics[]): Promise<string> {
  return AggregatorRegistry.aggregate([...threads]).metrics();
}

/** Adds the metrics as `joinMetrics` does. Returns the sums as values, not as text. */
export function addMetrics(threads: readonly ThreadMetrics[]): ThreadMetrics {
  // The aggregated metrics have values, which the types of prom-client do not declare.
  return AggregatorRegistry.aggregate([...threads]).getMetricsAsArray() as unknown as ThreadMetrics;
}

const GROWING_TYPES = ['counter', 'histogram'];

/** The metrics that only grow: counters and histograms. */
export function growingMetrics(metrics: ThreadMetrics): ThreadMetrics {
  // prom-client declares `type` as a number, but its value is a text.
  return metrics.filter(({ type }) => GROWING_TYPES.includes(String(type)));
}

/** The consumers that a process can run. */
export type ConsumingRole = 'enricher' | 'writer' | 'archiver_raw' | 'archiver_enriched' | 'replay' | 'replay_enricher';

/** Metrics of a consuming role. Labels: `role`, `partition`. */
export interface ConsumeMetrics {
  /** Counts processed records. Only the enricher also counts repeats here (records that were processed before). */
  records(partition: number, count: number): void;
  /** Counts records that were processed before, and therefore had no effect. */
  repeats(partition: number, count: number): void;
  batch(partition: number, seconds: number): void;
  failure(partition: number, code: string): void;
  /** Counts an alarm. */
  alarm(partition: number): void;
  dead(partition: number): void;
  /** Sets the age of the oldest record of the batch that was delivered last. Call it before the role waits for anything: this ends `idle`. */
  delay(partition: number, seconds: number): void;
  /** Call it while the last delivered batch waits, for example because an insert failed. Increases the delay by the time that has passed. */
  waiting(partition: number): void;
  /** Call it when all delivered records are processed. If no record is delivered in the next minute, the delay becomes 0. */
  idle(partition: number): void;
  /** Call it when the partition is assigned. Sets its alarm to 0, and creates the counters that cause alerts. */
  assigned(partition: number): void;
  /** Sets whether the partition has an alarm now. */
  alarmed(partition: number, hasAlarm: boolean): void;
  /** Call it when the partition is revoked: removes its delay and its alarm. */
  revoked(partition: number): void;
}

/**
 * The delay of an idle partition becomes 0 after this time. It does not become 0 at once: between two batches, a partition with a lag is idle for a
 * moment, and a scrape in this moment would end the alert WeirBehind.
 */
const IDLE_MS = 60_000;

/** The batch of a partition that was delivered last. */
interface Delivered {
  /** The age of its oldest record, in seconds, and when it was delivered. */
  age: number;
  at: number;
  /** When all of its records were processed. Undefined until then. */
  idleSince: number | undefined;
  timer: NodeJS.Timeout | undefined;
}

export function createConsumeMetrics(registry: Metrics, role: ConsumingRole): ConsumeMetrics {
  const counter = (name: string, help: string, labels: readonly string[] = []): Counter =>
    counterOf(registry, name, help, ['role', 'partition', ...labels]);

  const gauge = (name: string, help: string): Gauge => gaugeOf(registry, name, help, ['role', 'partition']);

  const records = counter('weir_consumed_records_total', 'Processed records.');
  const repeats = counter(
    'weir_repeated_records_total',
    'Records that were delivered again after they had been processed.',
  );
  const batches = counter('weir_batches_total', 'Batches written to the next stage of the pipeline.');
  const failures = counter('weir_consume_failures_total', 'Failures that are retried.', ['code']);
  const alarms = counter('weir_alarms_total', 'Alarms of partitions. Each one needs an operator.');
  const alarm = gauge('weir_partition_alarm', '1 while the partition has an alarm, otherwise 0.');
  const dead = counter('weir_dead_rows_total', 'Rows that ClickHouse refused.');
  const seconds =
    (registry.getSingleMetric('weir_batch_seconds') as Histogram | undefined) ??
    new Histogram({
      name: 'weir_batch_seconds',
      help: 'Duration of a batch: enricher from read to commit, writer of the insert.',
      labelNames: ['role'],
      buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers: [registry],
    });
  const delay = gauge(
    'weir_consume_delay_seconds',
    'Age of the oldest record of the current batch; 0 after a minute without records.',
  );

  const delivered = new Map<number, Delivered>();
  /** The batch of a revoked partition can still be in progress. Its delay must not be set again, because nothing would remove it. */
  const revoked = new Set<number>();

  /** Sets the delay to 0 when the partition has been idle for IDLE_MS. One timer is used for many batches, because a timer for each costs time. */
  function endDelayLater(partition: number, last: Delivered, idleSince: number): void {
    const waitMs = Math.max(0, idleSince + IDLE_MS - performance.now());
    last.timer = setTimeout(() => {
      last.timer = undefined;
      if (last.idleSince === undefined) return;
      if (performance.now() - last.idleSince < IDLE_MS) endDelayLater(partition, last, last.idleSince);
      else delay.set({ role, partition }, 0);
    }, waitMs).unref();
  }

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
    delay(partition, age) {
      if (revoked.has(partition)) return;
      const last = delivered.get(partition);
      const now = { age, at: performance.now(), idleSince: undefined };
      if (last === undefined) delivered.set(partition, { ...now, timer: undefined });
      else Object.assign(last, now);
      delay.set({ role, partition }, age);
    },
    waiting(partition) {
      const last = delivered.get(partition);
      if (last !== undefined) delay.set({ role, partition }, last.age + (performance.now() - last.at) / 1000);
    },
    idle(partition) {
      const last = delivered.get(partition);
      if (last === undefined || last.idleSince !== undefined) return;
      last.idleSince = performance.now();
      if (last.timer === undefined) endDelayLater(partition, last, last.idleSince);
    },
    assigned(partition) {
      revoked.delete(partition);
      // Creates the counters with 0, because Prometheus sees no increase of a counter whose first value is 1.
      records.inc({ role, partition }, 0);
      alarms.inc({ role, partition }, 0);
      dead.inc({ role, partition }, 0);
      alarm.set({ role, partition }, 0);
    },
    alarmed: (partition, hasAlarm) => alarm.set({ role, partition }, hasAlarm ? 1 : 0),
    revoked(partition) {
      revoked.add(partition);
      clearTimeout(delivered.get(partition)?.timer);
      delivered.delete(partition);
      delay.remove({ role, partition });
      alarm.remove({ role, partition });
    },
  };
}

/** Metrics of the enricher's state. */
export interface StateMetrics {
  /** Counts a new epoch of the state store (docs/glossary.md), which begins when a part of its content may have been lost. */
  began(): void;
  /** Sets the number of partitions whose state may still be incomplete. Above 0, records with an idempotency key wait. */
  waiting(partitions: number): void;
  /** Counts records that this process has folded (applied to the state) again. */
  folded(records: number): void;
}

export function createStateMetrics(registry: Metrics): StateMetrics {
  const epochs = counterOf(
    registry,
    'weir_state_epochs_total',
    'Epochs of the state store. A new one begins when state may have been lost.',
  );
  const waiting = gaugeOf(
    registry,
    'weir_state_partitions_waiting',
    'Partitions whose state may be incomplete. Above 0, records with an idempotency key wait.',
  );
  const folded = counterOf(registry, 'weir_state_rebuilt_records_total', 'Records folded into the state again.');
  return {
    began: () => epochs.inc(),
    waiting: (partitions) => waiting.set(partitions),
    folded: (records) => folded.inc(records),
  };
}

/** `unreadSeconds` is called at each request of the metrics. */
export function createRegistryMetric(registry: Metrics, unreadSeconds: () => number): void {
  const unread: Gauge = new Gauge({
    name: 'weir_registry_unread_seconds',
    help: 'Time since the process last read the topics registry and salts. With several processes, the longest time.',
    aggregator: 'max',
    collect: () => unread.set(unreadSeconds()),
    registers: [registry],
  });
}

/** Returns a function that sets the metric of an engine: the number of its settings that break exactly-once. */
export function createDriftMetric(registry: Metrics): (engine: string, settings: number) => void {
  const drift = gaugeOf(registry, 'weir_engine_drift', 'Settings of an engine that break exactly-once.', ['engine']);
  return (engine, settings) => drift.set({ engine }, settings);
}

/** Returns a function that counts a call which Redis did not count against its rate limit. */
export function createRateLimiterMetric(registry: Metrics): () => void {
  const name = 'weir_rate_limiter_failures_total';
  const failures = counterOf(
    registry,
    name,
    'Calls that Redis did not count. Each one was counted in one process only.',
  );
  return () => failures.inc();
}

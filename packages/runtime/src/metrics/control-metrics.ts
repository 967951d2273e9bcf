import { counterOf, gaugeOf, type Metrics } from '../prometheus-metrics.ts';

export interface AuditMetrics {
  /**
   * A check of one raw partition has ended. `missing`: raw offsets (docs/glossary.md) without an outcome. `repeated`: rows beyond the first of a raw
   * offset.
   */
  checked(partition: number, missing: number, repeated: number): void;
  /** A check of all partitions ended. `at`: Unix milliseconds. */
  done(at: number): void;
}

/** `startedAt`: the time of the last check until the first call of `done`, in Unix milliseconds. The value 0 would mean a check of 1970. */
export function createAuditMetrics(registry: Metrics, startedAt: number): AuditMetrics {
  const unbalanced = gaugeOf(
    registry,
    'weir_audit_unbalanced_records',
    'Raw offsets without an outcome (missing), and outcomes beyond the first of a raw offset (repeated), by raw partition.',
    ['partition', 'kind'],
  );
  const doneAt = gaugeOf(
    registry,
    'weir_audit_done_timestamp_seconds',
    'When the audit in the background last compared all partitions (Unix time). Before that: when it started.',
  );
  doneAt.set(startedAt / 1000);
  return {
    checked(partition, missing, repeated) {
      unbalanced.set({ partition, kind: 'missing' }, missing);
      unbalanced.set({ partition, kind: 'repeated' }, repeated);
    },
    done: (at) => doneAt.set(at / 1000),
  };
}

export interface RetentionMetrics {
  /** Sets the time (Unix milliseconds) at which no expired row was left in the tables. */
  done(at: number): void;
}

/** `startedAt`: the value of the metric until the first call of `done`, in Unix milliseconds. */
export function createRetentionMetrics(registry: Metrics, startedAt: number): RetentionMetrics {
  const done = gaugeOf(
    registry,
    'weir_retention_done_timestamp_seconds',
    'When this process last found that no expired row was left (Unix time). Before that: when it started.',
  );
  done.set(startedAt / 1000);
  return { done: (at) => done.set(at / 1000) };
}

export interface ErasureMetrics {
  /** Sets the number of open erasures whose last attempt in this process has failed. */
  failing(erasures: number): void;
}

export function createErasureMetrics(registry: Metrics): ErasureMetrics {
  const failing = gaugeOf(
    registry,
    'weir_erasures_failing',
    'Open erasures whose last attempt in this process has failed. They are tried again.',
  );
  return { failing: (erasures) => failing.set(erasures) };
}

export interface VisitCheckMetrics {
  /** Adds visits whose stamps (docs/glossary.md) differed from the view `sessions`. */
  flagged(visits: number): void;
}

export function createVisitCheckMetrics(registry: Metrics): VisitCheckMetrics {
  const flagged = counterOf(
    registry,
    'weir_visits_flagged_total',
    'Visits whose stamps differed from sessions, so that reports compute them.',
  );
  return { flagged: (visits) => flagged.inc(visits) };
}

export interface VisitSlotMetrics {
  built(days: number): void;
  /** Counts compared reports whose numbers from the slots (docs/glossary.md) differed from those of the rows. */
  differed(reports: number): void;
}

export function createVisitSlotMetrics(registry: Metrics): VisitSlotMetrics {
  const built = counterOf(
    registry,
    'weir_report_days_built_total',
    'Days of sites that were added to the rollup of the reports, or built again.',
  );
  const differed = counterOf(
    registry,
    'weir_reports_differing_total',
    'Reports of a sampled day whose numbers from the rollup differed from those of the rows.',
  );
  return { built: (days) => built.inc(days), differed: (reports) => differed.inc(reports) };
}

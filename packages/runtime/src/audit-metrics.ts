import { Gauge } from 'prom-client';
import type { Metrics } from './prometheus-metrics.ts';

export interface AuditMetrics {
  /**
   * A check of one raw partition has ended. `missing`: raw offsets (docs/glossary.md) without an outcome. `repeated`: rows beyond the first of a raw
   * offset.
   */
  checked(partition: number, missing: number, repeated: number): void;
  /** A check of all partitions ended. `at`: Unix milliseconds. */
  done(at: number): void;
}

export function createAuditMetrics(registry: Metrics): AuditMetrics {
  const unbalanced = new Gauge({
    name: 'weir_audit_unbalanced_records',
    help: 'Raw offsets without an outcome (missing), and outcomes beyond the first of a raw offset (repeated), by raw partition.',
    labelNames: ['partition', 'kind'],
    registers: [registry],
  });
  const doneAt = new Gauge({
    name: 'weir_audit_done_timestamp_seconds',
    help: 'When the audit in the background last compared all partitions.',
    registers: [registry],
  });
  return {
    checked(partition, missing, repeated) {
      unbalanced.set({ partition, kind: 'missing' }, missing);
      unbalanced.set({ partition, kind: 'repeated' }, repeated);
    },
    done: (at) => doneAt.set(at / 1000),
  };
}

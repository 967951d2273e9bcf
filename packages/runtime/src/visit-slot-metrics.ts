import { Counter } from 'prom-client';
import type { Metrics } from './prometheus-metrics.ts';

export interface VisitSlotMetrics {
  built(days: number): void;
  /** Counts compared reports whose numbers from the slots (docs/glossary.md) differed from those of the rows. */
  differed(reports: number): void;
}

export function createVisitSlotMetrics(registry: Metrics): VisitSlotMetrics {
  const built = new Counter({
    name: 'weir_report_days_built_total',
    help: 'Days of sites that were added to the rollup of the reports, or built again.',
    registers: [registry],
  });
  const differed = new Counter({
    name: 'weir_reports_differing_total',
    help: 'Reports of a sampled day whose numbers from the rollup differed from those of the rows.',
    registers: [registry],
  });
  return { built: (days) => built.inc(days), differed: (reports) => differed.inc(reports) };
}

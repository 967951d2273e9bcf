import { Counter } from 'prom-client';
import type { Metrics } from './prometheus-metrics.ts';

export interface VisitCheckMetrics {
  /** Adds visits whose stamps (docs/glossary.md) differed from the view `sessions`. */
  flagged(visits: number): void;
}

export function createVisitCheckMetrics(registry: Metrics): VisitCheckMetrics {
  const flagged = new Counter({
    name: 'weir_visits_flagged_total',
    help: 'Visits whose stamps differed from sessions, so that reports compute them.',
    registers: [registry],
  });
  return { flagged: (visits) => flagged.inc(visits) };
}

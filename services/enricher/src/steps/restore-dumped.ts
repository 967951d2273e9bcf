import type { Step } from '../pipeline/step.ts';

/**
 * Ends a row of a dump, because it was enriched and checked against the exclusion rules before it was exported
 * (docs/decisions/0025). Its original time of receipt replaces that of the import: ClickHouse uses this time for the table
 * partition, and for the question which user a visitor was.
 */
export const restoreDumped: Step = {
  name: 'restore-dumped',
  apply(event) {
    const { dumped } = event;
    if (dumped === undefined) return undefined;
    event.receivedAt = dumped.receivedAt;
    return { outcome: 'dumped', row: dumped };
  },
};

import type { Step } from '../pipeline/step.ts';

/**
 * Ends the enrichment of a row of a dump (a file of `weir export everything`). Before the export, the row was enriched and checked against the
 * exclusion rules (docs/decisions/0025). Its original time of receipt replaces the time of the import. ClickHouse uses this time to choose the
 * table partition, and to find the user to whom the visitor belonged at that time.
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

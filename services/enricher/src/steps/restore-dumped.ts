import type { Step } from '../pipeline/step.ts';

/**
 * Ends a dumped row: it was enriched, and checked against the exclusion rules, before it was exported (docs/decisions/0025). Its
 * time of receipt decides the table partition and who a visitor was, so it counts and not that of the import.
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

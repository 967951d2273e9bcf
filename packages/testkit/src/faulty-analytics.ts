import type { Analytics } from '@weir/ports/analytics';
import { type FaultPoint, withFaults } from './fault-points.ts';

/** Wraps the real engine. Faults can happen at four calls: insertRecords, generation, change and highestRawOffset. */
export function createFaultyAnalytics(analytics: Analytics, point: FaultPoint): Analytics {
  return {
    ...analytics,
    insertRecords: (batch) => withFaults(point, 'insertRecords', () => analytics.insertRecords(batch)),
    generation: () => withFaults(point, 'generation', () => analytics.generation()),
    change: (statement, token) => withFaults(point, 'change', () => analytics.change(statement, token)),
    highestRawOffset: (logId, partition) =>
      withFaults(point, 'highestRawOffset', () => analytics.highestRawOffset(logId, partition)),
  };
}

import type { Analytics } from '@weir/ports/analytics';
import { type FaultPoint, withFaults } from './fault-points.ts';

/** The real engine, with faults at the points of the writer's calls. */
export function createFaultyAnalytics(analytics: Analytics, point: FaultPoint): Analytics {
  return {
    ...analytics,
    insertRecords: (batch) => withFaults(point, 'insertRecords', () => analytics.insertRecords(batch)),
    highestRawOffset: (logId, partition) =>
      withFaults(point, 'highestRawOffset', () => analytics.highestRawOffset(logId, partition)),
  };
}

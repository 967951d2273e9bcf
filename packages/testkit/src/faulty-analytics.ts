import type { Analytics } from '@weir/ports/analytics';
import { type FaultPoint, passing } from './fault-points.ts';

/** The real engine, with faults at the points of the writer's calls. */
export function createFaultyAnalytics(analytics: Analytics, point: FaultPoint): Analytics {
  return {
    ...analytics,
    insertRecords: (batch) => passing(point, 'insertRecords', () => analytics.insertRecords(batch)),
    highestRawOffset: (logId, partition) =>
      passing(point, 'highestRawOffset', () => analytics.highestRawOffset(logId, partition)),
  };
}

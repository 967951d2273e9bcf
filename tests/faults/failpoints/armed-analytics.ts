import { createFaultyAnalytics } from '@weir/testkit/faulty-analytics';
import {
  type OpenAnalytics,
  type OpenAnalyticsDeps,
  openAnalytics as open,
} from '../../../services/host/src/ports/open-analytics.ts';
import { armedPoint } from './armed-fault.ts';

/** Replaces `openAnalytics` of the host. Opens the same ClickHouse, and adds points at which a test can make a fault happen. */
export async function openAnalytics(deps: OpenAnalyticsDeps): Promise<OpenAnalytics> {
  const opened = await open(deps);
  return { ...opened, analytics: { ...opened.analytics, ...createFaultyAnalytics(opened.analytics, armedPoint) } };
}

import { setTimeout as pause } from 'node:timers/promises';
import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/records/topics';
import type { ControlDeps } from '../control-deps.ts';

const POLL_MS = 25;

/**
 * Waits until each record that is in `events.raw` now has its outcome in ClickHouse. The result is false if that takes longer
 * than `withinMs`. The function compares the highest raw offset in ClickHouse, because committed offsets do not show records
 * that are between the enricher and the writer.
 */
export async function waitUntilStored(
  deps: Pick<ControlDeps, 'eventLog' | 'analytics' | 'clock'>,
  withinMs: number,
): Promise<boolean> {
  const { eventLog, analytics, clock } = deps;
  const deadline = clock() + withinMs;
  let waiting = (await eventLog.positions(TOPIC_RAW, GROUP_ENRICHER)).filter(({ first, end }) => end > first);
  for (;;) {
    const highest = await Promise.all(
      waiting.map(({ partition }) => analytics.highestRawOffset(eventLog.logId, partition)),
    );
    waiting = waiting.filter(({ end }, index) => (highest[index] ?? -1) < end - 1);
    if (waiting.length === 0) return true;
    if (clock() >= deadline) return false;
    await pause(POLL_MS);
  }
}

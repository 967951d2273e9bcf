import { setTimeout as pause } from 'node:timers/promises';
import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/records/topics';
import type { ControlDeps } from '../control-deps.ts';

const POLL_MS = 25;

/**
 * Waits until each record that `events.raw` has now has its outcome in ClickHouse; false if that takes longer than `withinMs`.
 * It compares the highest raw offset in ClickHouse. The consumers' committed offsets would not show records between the two
 * consumers.
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

import { setTimeout as pause } from 'node:timers/promises';
import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/records/topics';
import type { EventLog } from '@weir/ports/event-log';
import type { SteadyTables } from '../steady-tables.ts';

const POLL_MS = 25;
const VISIBLE_WAIT_MS = 15_000;

interface WaitDeps {
  readonly eventLog: EventLog;
  readonly tables: Pick<SteadyTables, 'read'>;
}

/**
 * Waits until all records that `events.raw` has at the time of the call have their outcomes in ClickHouse. Resolves with false if that takes longer
 * than `withinMs`. Also waits for records that consumers cannot read yet, because a caller may append again each record that it does not find.
 * Compares the end of each partition with the highest raw offset (docs/glossary.md) in ClickHouse. Committed offsets would not show records that are
 * between the enricher and the writer.
 */
export async function waitUntilStored({ eventLog, tables }: WaitDeps, withinMs: number): Promise<boolean> {
  // The system clock can be set back, so it does not measure how long the caller waits.
  const deadline = performance.now() + withinMs;
  let waiting = (await eventLog.positions(TOPIC_RAW, GROUP_ENRICHER))
    .map(({ partition, first, end, written = end }) => ({ partition, first, end: written }))
    .filter(({ first, end }) => end > first);
  for (;;) {
    const partitions = waiting.map(({ partition }) => partition);
    const highest = await tables.read((stored) =>
      Promise.all(partitions.map((partition) => stored.highestRawOffset(eventLog.logId, partition))),
    );
    waiting = waiting.filter(({ end }, index) => (highest[index] ?? -1) < end - 1);
    if (waiting.length === 0) return true;
    if (performance.now() >= deadline) return false;
    await pause(POLL_MS);
  }
}

/**
 * Waits until all tables have the outcomes of all records that `events.raw` has at the time of the call. While an insert is running, its rows can be
 * visible in `records`, but not yet in the tables that views fill. Resolves with false if the outcomes are not in `records` within 15 s.
 */
export async function waitUntilVisible(
  deps: WaitDeps & { readonly insertsEnd: () => Promise<void> },
): Promise<boolean> {
  if (!(await waitUntilStored(deps, VISIBLE_WAIT_MS))) return false;
  await deps.insertsEnd();
  return true;
}

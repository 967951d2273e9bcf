import { GROUP_ENRICHER, GROUP_WRITER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import type { EventLog } from '@weir/ports/event-log';

/**
 * The replay waits while live records wait longer than this. Even without a backlog, a commit can be some seconds late: on Kafka the
 * writer collects rows for a second, and its partitions insert one after the other.
 */
export const LIVE_LAG_MAX_MS = 10_000;

/** Returns why the replay must wait: a live consumer has records that have waited too long. Undefined if the replay need not wait. */
export async function liveLag(eventLog: EventLog, clock: () => number): Promise<string | undefined> {
  for (const [topic, group] of LIVE) {
    const [old, positions] = await Promise.all([
      eventLog.offsetsAtTime(topic, clock() - LIVE_LAG_MAX_MS),
      eventLog.positions(topic, group),
    ]);
    const late = positions.some(({ partition, first, committed = first }) => committed < (old[partition] ?? 0));
    if (late) return `live records of ${topic} wait longer than ${LIVE_LAG_MAX_MS / 1000} s`;
  }
  return undefined;
}

const LIVE = [
  [TOPIC_RAW, GROUP_ENRICHER],
  [TOPIC_ENRICHED, GROUP_WRITER],
] as const;

import { GROUP_ENRICHER, GROUP_WRITER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import type { EventLog } from '@weir/ports/event-log';

/**
 * The replay waits while live records wait longer than this. A lower limit could stop the replay even without a backlog. On Kafka, a commit can be
 * some seconds late: the writer collects rows for a second, and its partitions insert one after the other.
 */
const LIVE_LAG_MAX_MS = 10_000;

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

/**
 * A replay rests (pauses between its pieces of work) while live records arrive (docs/decisions/0046). After a live record, records count as arriving
 * for this long, so that a short gap between two records does not end the rests.
 */
const ARRIVING_FOR_MS = 5_000;

/**
 * A replay rests only if, within `GAIN_WITHIN_MS`, it processed at least `GAIN_MIN` times as many records as arrived. With rests, a slower replay
 * would hardly catch up. Until half of this time has passed, every replay counts as fast enough.
 */
const GAIN_WITHIN_MS = 10_000;
const GAIN_MIN = 3;

/**
 * Returns a function that resolves with true if a replay must rest. A replay must rest if live records arrive, and if it processes records fast
 * enough (see `GAIN_WITHIN_MS`). Live records arrive if the end of `events.raw` has moved between two calls, less than `ARRIVING_FOR_MS` ago.
 * `admitted`: how many records the replay has processed so far. The first call resolves with false.
 */
export function createLiveArrivals(
  eventLog: Pick<EventLog, 'positions'>,
  clock: () => number,
): (admitted: number) => Promise<boolean> {
  let endsBefore: readonly number[] | undefined;
  let movedAt = Number.NEGATIVE_INFINITY;
  let samples: readonly { readonly at: number; readonly arrived: number; readonly admitted: number }[] = [];

  function gains(arrived: number, admitted: number): boolean {
    const now = clock();
    // The number `admitted` of another replay begins at 0 again.
    if (admitted < (samples.at(-1)?.admitted ?? 0)) samples = [];
    const valid = samples.filter(({ at }) => now >= at && now - at <= GAIN_WITHIN_MS);
    samples = [...valid, { at: now, arrived, admitted }];
    const [first] = samples;
    if (first === undefined || now - first.at < GAIN_WITHIN_MS / 2) return true;
    return admitted - first.admitted >= GAIN_MIN * (arrived - first.arrived);
  }

  return async (admitted) => {
    const positions = await eventLog.positions(TOPIC_RAW, GROUP_ENRICHER);
    const ends = positions.map(({ end }) => end);
    if (endsBefore !== undefined && ends.some((end, partition) => end > (endsBefore?.[partition] ?? 0)))
      movedAt = clock();
    endsBefore = ends;
    const agoMs = clock() - movedAt;
    const gaining = gains(
      ends.reduce((sum, end) => sum + end, 0),
      admitted,
    );
    return agoMs >= 0 && agoMs < ARRIVING_FOR_MS && gaining;
  };
}

const LIVE = [
  [TOPIC_RAW, GROUP_ENRICHER],
  [TOPIC_ENRICHED, GROUP_WRITER],
] as const;

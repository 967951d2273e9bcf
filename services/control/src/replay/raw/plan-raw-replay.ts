import { utcDay } from '@weir/domain/people/cookieless';
import { PREVIOUS_SALT_MS } from '@weir/domain/people/salt-times';
import { GROUP_ENRICHER, GROUP_REPLAY_WRITER, TOPIC_RAW, TOPIC_REPLAYED } from '@weir/domain/records/topics';
import type { ReplayScope, ReplayStart } from '@weir/domain/registry/replay';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import { formatTime } from '../../format-time.ts';

export interface PlanRawDeps {
  readonly eventLog: EventLog;
  readonly analytics: Pick<Analytics, 'highestRawOffset'>;
  readonly registry: Pick<Registry, 'existingSalt'>;
  readonly clock: () => number;
  readonly raw: { readonly retentionMs: number };
}

export interface RawPlan {
  readonly starts: readonly ReplayStart[];
  /**
   * Why some records are copied from the live tables and not enriched again, although the topic still has them and they are in the scope of the
   * replay. Undefined if there are no such records.
   */
  readonly note: string | undefined;
}

const HOUR_MS = 3600_000;
const DAY_MS = 24 * HOUR_MS;
/**
 * Records that expire within this time after the start (or within half of the retention, if that is shorter) are copied from the live tables:
 * retention could remove these records before the replay reads them.
 */
const EXPIRES_SOON_MS = DAY_MS;
/**
 * The largest expected difference between the clocks of the gateway, which notes the time of receipt, and of the log, which finds
 * records by time.
 */
const CLOCKS_DIFFER_MS = HOUR_MS;

/** Returns the time from which a topic keeps its records for long enough. */
export function keptFrom(now: number, retentionMs: number): number {
  return now - retentionMs + Math.min(EXPIRES_SOON_MS, retentionMs / 2);
}

/** Returns the time from which the log can have records in the scope of the replay. */
export function wantedFrom({ sinceMs }: Pick<ReplayScope, 'sinceMs'>): number {
  return sinceMs === undefined ? 0 : Math.max(0, sinceMs - CLOCKS_DIFFER_MS);
}

export async function planRawReplay(deps: PlanRawDeps, scope: ReplayScope): Promise<RawPlan> {
  const { eventLog, analytics, clock } = deps;
  const firsts = (await eventLog.positions(TOPIC_RAW, GROUP_ENRICHER)).map(({ first }) => first);
  const replayed = await eventLog.positions(TOPIC_REPLAYED, GROUP_REPLAY_WRITER);
  const wanted = wantedFrom(scope);
  const kept = keptFrom(clock(), deps.raw.retentionMs);
  const salted = (await saltsFrom(deps, firsts)) ?? 0;
  const offsetsFrom = async (timeMs: number): Promise<readonly number[]> => {
    const found = await eventLog.offsetsAtTime(TOPIC_RAW, Math.max(0, timeMs));
    return firsts.map((first, partition) => Math.max(first, found[partition] ?? first));
  };
  const wantedOffsets = await offsetsFrom(wanted);
  const offsets = await offsetsFrom(Math.max(wanted, kept, salted));
  const starts = await Promise.all(
    offsets.map(async (rawFrom, partition) => {
      const rawEnd = (await analytics.highestRawOffset(eventLog.logId, partition)) + 1;
      return { offset: replayed[partition]?.end ?? 0, rawOffset: Math.min(rawFrom, rawEnd), rawEnd };
    }),
  );
  const isWhole = offsets.every((offset, partition) => offset <= (wantedOffsets[partition] ?? 0));
  if (isWhole) return { starts, note: undefined };
  const why = salted > kept ? 'their salts were deleted' : 'they are about to expire';
  const from = formatTime(Math.max(wanted, kept, salted));
  return { starts, note: `records that the log received before ${from} are copied, not enriched again: ${why}` };
}

/**
 * Returns a time: all records that were received at or after it still have their salts (docs/glossary.md). Resolves with undefined if all records in
 * the log have their salts, or if no salt exists. The oldest salts are deleted first, so the oldest existing salt shows this time.
 */
async function saltsFrom(
  { eventLog, registry, clock, raw }: PlanRawDeps,
  firsts: readonly number[],
): Promise<number | undefined> {
  const today = Math.floor(clock() / DAY_MS) * DAY_MS;
  const oldest = today - Math.ceil(raw.retentionMs / DAY_MS + 2) * DAY_MS;
  for (let day = oldest; day <= today; day += DAY_MS) {
    if (registry.existingSalt(utcDay(day)) === undefined) continue;
    const begins = await eventLog.offsetsAtTime(TOPIC_RAW, day);
    const isComplete = begins.every((begin, partition) => begin <= (firsts[partition] ?? 0));
    return isComplete ? undefined : day + PREVIOUS_SALT_MS + CLOCKS_DIFFER_MS;
  }
  return undefined;
}

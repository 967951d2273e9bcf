import { setTimeout as pause } from 'node:timers/promises';
import { GROUP_WRITER, TOPIC_ENRICHED } from '@weir/domain/records/topics';
import type { EventLog } from '@weir/ports/event-log';
import type { PauseOwner, Registry, WritersPause } from '@weir/ports/registry';
import { readCommitted } from '../resume-point.ts';

export interface PauseDeps {
  readonly eventLog: EventLog;
  readonly registry: Pick<Registry, 'writersPause' | 'putWritersPause'>;
  readonly clock: () => number;
  /** What the caller pauses the writers for: a swap or a backup. The functions below do not change a pause of the other owner. */
  readonly owner: PauseOwner;
}

/** The position at which the writer of one partition stopped. Every row before it is stored in the live tables. */
export interface PausedPosition {
  readonly partition: number;
  /** The next offset of `events.enriched`. */
  readonly offset: number;
  readonly nextRawOffset: number;
}

export type Paused =
  | { readonly status: 'paused'; readonly positions: readonly PausedPosition[] }
  /** The writers of these partitions did not stop in time. The pause is over. */
  | { readonly status: 'late'; readonly partitions: readonly number[] };

/** The time that the writers have to finish their running inserts. */
const PAUSE_WITHIN_MS = 60_000;
const CHECK_EVERY_MS = 50;

/** The number of the next swap (an exchange of all tables) or backup. It is higher than the numbers of all earlier swaps and backups. */
export async function nextSwap(deps: PauseDeps): Promise<number> {
  const earlier = (await pausedPartitions(deps)).map(({ paused }) => paused ?? 0);
  return Math.max(deps.registry.writersPause()?.swap ?? 0, ...earlier) + 1;
}

/**
 * Asks the writers of all partitions to pause for this swap or backup. Resolves with their positions when all have paused. Nothing is then inserted
 * into the live tables until `resumeWriters`, even if writers crash. If the writers have not paused within `limitMs` after the request, the
 * function ends the pause, and the result is `late`. Rejects with `RangeError` if this pause is over, if a later one was requested, or if the
 * writers pause for another owner. Two owners can take the same number at the same time: one of them gets this error. After a rejection
 * (`event_log_unavailable`) or a crash, the writers may stay paused: call `pauseWriters` again with the same number, or call `resumeWriters`.
 */
export async function pauseWriters(
  deps: PauseDeps,
  swap: number,
  { signal, limitMs = PAUSE_WITHIN_MS }: { readonly signal?: AbortSignal; readonly limitMs?: number } = {},
): Promise<Paused> {
  const { registry, clock, owner } = deps;
  let request = registry.writersPause();
  if (request === undefined || (request.swap < swap && (request.over || isOwn(deps, request)))) {
    request = { swap, owner, over: false, requestedAt: clock() };
    await registry.putWritersPause(request);
  }
  for (;;) {
    const partitions = await pausedPartitions(deps);
    // This is checked each time, because another owner can have requested a pause at the same moment. The later request counts.
    if (!holdsPause(deps, swap))
      throw new RangeError(`the pause for swap ${swap} is over, or the writers pause for another owner`);
    const late = partitions.filter(({ paused }) => paused !== swap).map(({ partition }) => partition);
    if (late.length === 0) {
      return {
        status: 'paused',
        positions: partitions.map(({ partition, offset, next }) => ({ partition, offset, nextRawOffset: next })),
      };
    }
    if (clock() - request.requestedAt > limitMs) {
      await registry.putWritersPause({ ...request, over: true });
      return { status: 'late', partitions: late };
    }
    await pause(CHECK_EVERY_MS, undefined, signal === undefined ? {} : { signal });
  }
}

/** Whether the writers must pause for this swap or backup of this owner now. */
export function holdsPause(deps: Pick<PauseDeps, 'registry' | 'owner'>, swap: number): boolean {
  const request = deps.registry.writersPause();
  return request?.swap === swap && !request.over && isOwn(deps, request);
}

/**
 * Ends the pause for this swap or backup, even if the registry has lost the request for the pause. Changes nothing if the registry has a later
 * request or a request of another owner. Resolves when the end is durably stored. The writers continue within a second.
 */
export async function resumeWriters(deps: PauseDeps, swap: number): Promise<void> {
  const { registry, clock, owner } = deps;
  const request = registry.writersPause();
  const isLost = request === undefined || (request.swap < swap && request.over);
  if (!isLost && !holdsPause(deps, swap)) return;
  await registry.putWritersPause({ swap, owner, over: true, requestedAt: request?.requestedAt ?? clock() });
}

function isOwn({ owner }: Pick<PauseDeps, 'owner'>, request: WritersPause): boolean {
  return (request.owner ?? owner) === owner;
}

async function pausedPartitions({ eventLog }: PauseDeps) {
  const positions = await eventLog.positions(TOPIC_ENRICHED, GROUP_WRITER);
  return positions.map(({ partition, committed: offset = 0, metadata = '' }) => {
    const progress = readCommitted({ partition, committed: { offset, metadata } });
    return { partition, offset, next: progress?.next ?? 0, paused: progress?.paused };
  });
}

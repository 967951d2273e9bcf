import { GROUP_REPLAY_WRITER, GROUP_WRITER, TOPIC_ENRICHED } from '@weir/domain/records/topics';
import type { ReplayState } from '@weir/domain/registry/replay';
import type { EventLog } from '@weir/ports/event-log';
import { committedOf } from './replay-log.ts';

/** The name of the run in the commits of its writer. */
export function runOf({ replayId, undoing }: Pick<ReplayState, 'replayId' | 'undoing'>): string {
  return undoing ? `${replayId}/undo` : replayId;
}

/** How far the writer of the replay is, by partition: the next offset of the enriched topic, and where the topic ends. */
export interface FillPosition {
  readonly start: number;
  readonly next: number;
  readonly end: number;
}

export async function fillPositions(
  eventLog: EventLog,
  state: Pick<ReplayState, 'replayId' | 'undoing' | 'starts'>,
): Promise<readonly FillPosition[]> {
  const positions = await eventLog.positions(TOPIC_ENRICHED, GROUP_REPLAY_WRITER);
  return state.starts.map(({ offset }, partition) => {
    const position = positions[partition];
    const committed = position === undefined ? undefined : committedOf(runOf(state), position);
    return { start: offset, next: Math.max(offset, committed ?? 0), end: Math.max(offset, position?.end ?? 0) };
  });
}

/** The offsets of the enriched topic up to which the live writer has stored everything. */
export async function livePositions(eventLog: EventLog): Promise<readonly number[]> {
  const positions = await eventLog.positions(TOPIC_ENRICHED, GROUP_WRITER);
  return positions.map(({ first, committed = first }) => committed);
}

import { rawOffsetOf } from '@weir/domain/records/records-columns';
import {
  GROUP_REPLAY_ENRICHER,
  GROUP_REPLAY_WRITER,
  GROUP_WRITER,
  TOPIC_ENRICHED,
  TOPIC_RAW,
  TOPIC_REPLAYED,
} from '@weir/domain/records/topics';
import type { Replay, ReplayState } from '@weir/domain/registry/replay';
import type { EventLog } from '@weir/ports/event-log';
import { isOfRun } from './raw/raw-log.ts';
import { committedOf } from './replay-log.ts';

/** Returns the name of a run of a replay. The writer of the run puts it into its commits. Filling and undoing are two runs. */
export function runOf({ replayId, undoing }: Pick<ReplayState, 'replayId' | 'undoing'>): string {
  return undoing ? `${replayId}/undo` : replayId;
}

/** Whether the run enriches raw records again. An undo does not, because `events.enriched` has the rows since the swap (docs/glossary.md). */
export function readsRaw({ request }: Pick<Replay, 'request'>, { undoing }: Pick<ReplayState, 'undoing'>): boolean {
  return request.from === 'raw' && !undoing;
}

/**
 * The progress of the replay's writer in one partition: where the run begins, the next record that it will store, and the end of the partition.
 * The numbers are offsets in `events.enriched`, or in `events.raw` if the run enriches raw records again.
 */
export interface FillPosition {
  readonly start: number;
  readonly next: number;
  readonly end: number;
}

type RunState = Pick<ReplayState, 'replayId' | 'undoing' | 'starts'>;

export async function fillPositions(
  eventLog: EventLog,
  replay: Pick<Replay, 'request'>,
  state: RunState,
): Promise<readonly FillPosition[]> {
  if (readsRaw(replay, state)) return rawPositions(eventLog, state);
  return writerPositions(eventLog, TOPIC_ENRICHED, state);
}

async function rawPositions(eventLog: EventLog, state: RunState): Promise<readonly FillPosition[]> {
  const run = runOf(state);
  // The enricher appends outcomes before it commits. Its commits are read first, and then the ends of the outcomes. So the outcomes of all committed
  // records are before these ends.
  const raw = await eventLog.positions(TOPIC_RAW, GROUP_REPLAY_ENRICHER);
  const replayed = await replayedPositions(eventLog, state);
  return Promise.all(
    state.starts.map(async ({ rawOffset: start }, partition) => {
      const { end = 0, ...position } = raw[partition] ?? { committed: undefined, metadata: undefined };
      const enriched = Math.max(start, committedOf(run, position) ?? 0);
      const { next: written = 0, end: replayedEnd = 0 } = replayed[partition] ?? {};
      let next: number | undefined;
      for (let at = written; at < replayedEnd && next === undefined; at++) {
        const [record] = await eventLog.read(TOPIC_REPLAYED, partition, at, 1);
        if (record === undefined) break;
        if (isOfRun(record, run)) next = rawOffsetOf(record);
      }
      return { start, next: Math.max(start, Math.min(enriched, next ?? enriched)), end: Math.max(start, end) };
    }),
  );
}

/** For each partition, the offset of the next replayed outcome that the writer will store, and the end offset of the replayed outcomes. */
export function replayedPositions(eventLog: EventLog, state: RunState): Promise<readonly FillPosition[]> {
  return writerPositions(eventLog, TOPIC_REPLAYED, state);
}

/** The progress of the replay's writer in the topic that it reads, in offsets of this topic. */
async function writerPositions(eventLog: EventLog, topic: string, state: RunState): Promise<readonly FillPosition[]> {
  const positions = await eventLog.positions(topic, GROUP_REPLAY_WRITER);
  return state.starts.map(({ offset }, partition) => {
    const position = positions[partition];
    const committed = position === undefined ? undefined : committedOf(runOf(state), position);
    return { start: offset, next: Math.max(offset, committed ?? 0), end: Math.max(offset, position?.end ?? 0) };
  });
}

/** For each partition, the offset in `events.enriched` up to which the live writer has stored all records. */
export async function livePositions(eventLog: EventLog): Promise<readonly number[]> {
  const positions = await eventLog.positions(TOPIC_ENRICHED, GROUP_WRITER);
  return positions.map(({ first, committed = first }) => committed);
}

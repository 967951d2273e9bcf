import { setTimeout as pause } from 'node:timers/promises';
import { pendingWish, type Replay, type ReplayState } from '@weir/domain/registry/replay';
import type { Analytics } from '@weir/ports/analytics';
import { describeError, pauseBeforeRetry } from '@weir/runtime/consume/consume-retry';
import type { Logger } from '@weir/runtime/logger';
import { copyChunk, inOrder, listChunks } from './copy-base.ts';
import { planStarts } from './plan-replay.ts';
import { createFilling, type FillingDeps } from './replay-filling.ts';
import { fillPositions, livePositions } from './replay-progress.ts';
import { beginSwap, continueSwap, type LiveWriters } from './swap-tables.ts';

export interface LeaderDeps extends FillingDeps {
  readonly analytics: Analytics;
  readonly liveWriters: LiveWriters;
  readonly logger: Logger;
  /** Of the enriched topic. */
  readonly retentionMs: number;
}

export interface Leader {
  /** Why the replay does not go on, for people. */
  problem(): string | undefined;
  /** Resolves when all work has stopped, after the signal has aborted. */
  readonly done: Promise<void>;
}

const LOOK_EVERY_MS = 1_000;
/** The shadow tables follow if they reach a position of the live writer within this time after it was read. */
const FOLLOWS_WITHIN_MS = 20_000;

/**
 * Runs the replay in the registry, phase by phase. After a crash, the next leader learns from the registry, the committed offsets and
 * ClickHouse where to continue.
 *
 *     phase    what the leader does                                                next phase
 *     -------  ------------------------------------------------------------------  --------------------------------------
 *     create   creates the shadow tables; decides where each partition begins      copy
 *     copy     copies the rows that are not replayed, chunk by chunk               fill
 *     fill     runs the writer from the log into the shadow tables                 follow (less than 20 s behind live)
 *     follow   keeps the writer running                                            swap (requested, or part of an undo)
 *     swap     exchanges the live and the shadow tables (swap-tables.ts)           swapped or undone; follow if refused
 *     swapped  nothing: the shadow tables are now the former tables                fill (an undo was requested)
 *     undone   nothing
 *     drop     removes the shadow tables, then the replay from the registry        none (requested in any phase but swap)
 *
 * The function `fence` rejects if this process is no longer the leader. It is called before each change of the replay in the registry.
 */
export function leadReplay(deps: LeaderDeps, signal: AbortSignal, fence: () => Promise<void>): Leader {
  const { eventLog, analytics, shadow, registry, clock, logger } = deps;
  const filling = createFilling(deps);
  const swapping = { ...deps, filling, signal, putState };
  let failure: string | undefined;
  let target: { readonly takenAt: number; readonly offsets: readonly number[] } | undefined;
  /** The replay whose shadow tables have all migrations: Weir may be newer than they are. */
  let migrated: string | undefined;

  async function putState(state: ReplayState): Promise<void> {
    await fence();
    await registry.putReplayState(state);
    logger.info({ replay: state.replayId, phase: state.phase, refusal: state.refusal }, 'replay');
  }

  async function create({ request }: Replay): Promise<void> {
    // What an interrupted attempt left may be half of a table.
    await shadow.drop();
    await shadow.create();
    const starts = await planStarts(deps, request);
    const chunks = await listChunks({ analytics, shadow, logId: eventLog.logId }, starts, request);
    const recordsToCopy = chunks.reduce((sum, { records }) => sum + records, 0);
    await putState({ replayId: request.replayId, phase: 'copy', starts, recordsCopied: 0, recordsToCopy });
  }

  async function copy(replay: Replay, state: ReplayState): Promise<void> {
    const { request } = replay;
    const copying = { analytics, shadow, logId: eventLog.logId };
    const { copied } = state;
    let { recordsCopied } = state;
    for (const { records, ...chunk } of await listChunks(copying, state.starts, request)) {
      if (copied !== undefined && inOrder(chunk, copied) <= 0) continue;
      for (await filling.lookAround(replay); filling.problem() !== undefined; await filling.lookAround(replay)) {
        await rest();
        if (signal.aborted) return;
      }
      if (!(await filling.pass(replay, records, signal)) || wishOf(registry.replay()) !== undefined) return;
      await copyChunk(copying, state.starts, request, chunk);
      recordsCopied += records;
      await putState({ ...state, copied: chunk, recordsCopied });
    }
    const { copied: _, ...finished } = state;
    await putState({ ...finished, phase: 'fill', recordsCopied });
  }

  async function fill(replay: Replay, state: ReplayState): Promise<void> {
    await filling.lookAround(replay);
    // The shadow tables never have a record that the tables do not have.
    const ends = await Promise.all(
      state.starts.map(async (_, partition) => (await analytics.highestRawOffset(eventLog.logId, partition)) + 1),
    );
    await filling.keepRunning(replay, state, ends);
    if (state.phase === 'fill' && (await followsLive(state))) await putState({ ...state, phase: 'follow' });
  }

  /** Whether the replay has reached where the live writer was a short time ago. */
  async function followsLive(state: ReplayState): Promise<boolean> {
    target ??= { takenAt: clock(), offsets: await livePositions(eventLog) };
    const { takenAt, offsets } = target;
    const reached = await fillPositions(eventLog, state);
    if (!reached.every(({ next }, partition) => next >= (offsets[partition] ?? 0))) return false;
    target = undefined;
    return clock() - takenAt < FOLLOWS_WITHIN_MS;
  }

  /** The former tables have everything up to the positions of the swap: they are filled from there. */
  async function beginUndo(state: ReplayState, answered: number): Promise<void> {
    const { refusal: _, ...rest } = state;
    const starts = (state.swapped?.positions ?? []).map(({ offset, rawOffset }) => {
      return { offset, rawOffset, rawEnd: rawOffset };
    });
    target = undefined;
    const undoFrom = state.undoFrom ?? clock();
    await putState({
      ...rest,
      phase: 'fill',
      starts,
      undoing: true,
      undoFrom,
      recordsCopied: 0,
      recordsToCopy: 0,
      answered,
    });
  }

  async function drop({ request, state }: Replay): Promise<void> {
    await filling.stop();
    if (state?.phase !== 'drop') {
      const { replayId } = request;
      await putState({ replayId, starts: [], recordsCopied: 0, recordsToCopy: 0, ...state, phase: 'drop' });
    }
    await shadow.drop();
    await fence();
    await registry.removeReplay(request.replayId);
  }

  async function step(replay: Replay): Promise<void> {
    const { state, wish } = replay;
    if (state?.phase === 'swap' && state.swap !== undefined) {
      return continueSwap(swapping, replay, state, state.swap);
    }
    const wanted = pendingWish(replay);
    if (wanted === 'drop' || state?.phase === 'drop') return drop(replay);
    if (state === undefined || state.phase === 'create') return create(replay);
    if (migrated !== state.replayId) await shadow.create();
    migrated = state.replayId;
    if (state.phase === 'copy') return copy(replay, state);
    const answered = wish?.askedAt ?? 0;
    if (state.phase === 'swapped' && wanted === 'undo') return beginUndo(state, answered);
    if (state.phase === 'swapped' || state.phase === 'undone') return filling.stop();
    if (state.phase === 'follow' && (wanted === 'swap' || state.undoing)) {
      return beginSwap(swapping, { ...state, answered });
    }
    return fill(replay, state);
  }

  /** Resolves after a second, or when the replay was changed. */
  async function rest(): Promise<void> {
    const changed = new AbortController();
    const stop = registry.onReplayChange(() => changed.abort());
    await pause(LOOK_EVERY_MS, undefined, { signal: AbortSignal.any([signal, changed.signal]) }).catch(() => undefined);
    stop();
  }

  async function lead(): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      const replay = registry.replay();
      try {
        if (replay !== undefined) await step(replay);
        failures = 0;
        failure = undefined;
        if (registry.replay()?.state?.phase === replay?.state?.phase) await rest();
      } catch (error) {
        if (signal.aborted) break;
        failure = describeError(error).message;
        logger.error({ replay: replay?.request.replayId, err: error }, 'replay: retrying');
        await pauseBeforeRetry(failures++, signal);
      }
    }
    await filling.stop();
  }

  return { problem: () => failure ?? filling.problem(), done: lead() };
}

function wishOf(replay: Replay | undefined) {
  return replay === undefined ? undefined : pendingWish(replay);
}

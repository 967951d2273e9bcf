import { TOPIC_REPLAYED } from '@weir/domain/records/topics';
import { pendingWish, type Replay, type ReplayRequest, type ReplayState } from '@weir/domain/registry/replay';
import type { Analytics } from '@weir/ports/analytics';
import type { ObjectStore } from '@weir/ports/object-store';
import { pauseUnlessAborted } from '@weir/runtime/abortable';
import { describeError, pauseBeforeRetry } from '@weir/runtime/consume/consume-retry';
import type { Logger } from '@weir/runtime/logger';
import { createAutomaticSteps } from '../rebuild/automatic-steps.ts';
import { listRuns, neededRuns } from './archive/archive-runs.ts';
import { listExpired } from './archive/expired-records.ts';
import { archiveOf, fillFromArchive } from './archive/fill-from-archive.ts';
import { copyChunk, inOrder, listChunks } from './copy-base.ts';
import { timeAfterErasures } from './erased-rows-of-log.ts';
import { planWhenStored } from './plan-replay.ts';
import { createFilling, type FillingDeps, problemOfStatus } from './replay-filling.ts';
import { type FillPosition, fillPositions, livePositions, readsRaw, replayedPositions } from './replay-progress.ts';
import { isWhole } from './replay-scope.ts';
import { beginSwap, continueSwap, type LiveWriters } from './swap/swap-tables.ts';

export interface LeaderDeps extends FillingDeps {
  readonly analytics: Analytics;
  readonly liveWriters: LiveWriters;
  /** Undefined if Weir does not archive. */
  readonly archive?: ObjectStore | undefined;
  readonly logger: Logger;
  /** How long `events.enriched` keeps records. */
  readonly retentionMs: number;
}

export interface Leader {
  /** A text that says why the replay does not continue. Undefined if it continues. */
  problem(): string | undefined;
  /** Resolves when all work has stopped, after the signal has aborted. */
  readonly done: Promise<void>;
}

const LOOK_EVERY_MS = 1_000;
/** The phase `follow` begins when the replay reaches a position that the live writer had less than this time ago. With rests: 3 times as long. */
const FOLLOWS_WITHIN_MS = 20_000;
/** How many records of a partition a replay's enricher may process before its writer stores their outcomes. These outcomes need disk space. */
const AHEAD_MAX = 500_000;
const REMOVED_AT_ONCE = 50_000;

/**
 * Carries out the replay that the registry contains, phase by phase. A replay fills a second set of tables (the shadow tables) and can
 * exchange them with the live tables. After a crash, the next leader continues from the registry, the committed offsets and the tables.
 *
 *     phase    what the leader does                                                next phase
 *     create   creates the shadow tables; decides where each partition begins      archive (with --from archive), otherwise copy
 *     archive  reads the archive up to the offset at which the log is read         copy
 *     copy     copies the rows that are not replayed, chunk by chunk               fill
 *     fill     runs the writer from the log into the shadow tables                 follow (see FOLLOWS_WITHIN_MS)
 *     follow   keeps the writer running                                            swap (requested, automatic, or part of an undo)
 *     swap     exchanges the live and the shadow tables (swap-tables.ts)           swapped; in an undo, undone; if refused, the phase before
 *     swapped  stops the writer; keeps the former tables for an undo               fill (an undo was requested)
 *     undone   stops the writer                                                    none, until it is dropped
 *     drop     removes the shadow tables, then the replay from the registry        none
 *
 * A drop can be requested in each phase but `swap`. In `swapped`, `undone` and `drop`, the leader also removes what a replay from raw has written for
 * itself: its outcomes in `events.replayed`, and its state.
 * The function `fence` rejects if this process is no longer the leader. It is called before each change of the replay in the registry,
 * and before the shadow tables are removed.
 */
export function leadReplay(deps: LeaderDeps, signal: AbortSignal, fence: () => Promise<void>): Leader {
  const { eventLog, analytics, shadow, registry, clock, logger } = deps;
  const filling = createFilling(deps);
  const automatic = createAutomaticSteps(deps);
  const copying = { analytics, shadow, logId: eventLog.logId };
  const swapping = { ...deps, filling, signal, fence, putState, migrateShadow };
  let failure: string | undefined;
  let target: { readonly takenAt: number; readonly offsets: readonly number[] } | undefined;
  /**
   * The ID of the replay whose shadow tables this process has created or migrated. A process migrates once per replay, because an older version of
   * Weir can have created the tables.
   */
  let migrated: string | undefined;
  /** The ID of the replay whose outcomes and state this process has removed. */
  let cleared: string | undefined;
  /** For each partition, the offset before which the replayed outcomes were removed. */
  let removed: readonly number[] = [];

  async function putState(state: ReplayState): Promise<void> {
    await fence();
    await registry.putReplayState(state);
    logger.info({ replay: state.replayId, phase: state.phase, refusal: state.refusal }, 'replay');
  }

  /** Stops filling. If the replay reads `events.raw`, also removes the outcomes and the state of the replay. */
  const clear = ({ from }: ReplayRequest): Promise<void> => (from === 'raw' ? filling.clear() : filling.stop());

  async function create(replay: Replay): Promise<void> {
    const { request } = replay;
    await clear(request);
    const { replayId } = request;
    await filling.lookAround(replay); // The next call can then compare the ends of the log, to find out whether live records arrive.
    // On a busy ClickHouse, creating the tables takes 10 s. If a later step fails, this function is called again and does not create them again.
    if (migrated !== replayId) {
      // An interrupted attempt of another process can have left incomplete tables.
      await fence();
      await shadow.drop();
      await shadow.create();
      migrated = replayId;
    }
    const { starts, note } = await planWhenStored(deps, request);
    if (note !== undefined) logger.warn({ replay: replayId }, `replay: ${note}`);
    if (request.from === 'archive') {
      const runs = neededRuns(await listRuns(archiveOf(deps), request), eventLog.logId, starts);
      await putState({ replayId, phase: 'archive', starts, recordsCopied: 0, recordsToCopy: sumOf(runs) });
    } else {
      const chunks = await listChunks(copying, { starts }, request);
      await putState({ replayId, phase: 'copy', starts, recordsCopied: 0, recordsToCopy: sumOf(chunks) });
    }
  }

  async function readArchive(replay: Replay, state: ReplayState): Promise<void> {
    const { request } = replay;
    const read = await fillFromArchive(
      {
        ...deps,
        ...{ gate: filling.gate(replay), signal, putState },
        async goesOn(status) {
          failure = problemOfStatus(status);
          await filling.lookAround(replay);
          await rest();
          return !signal.aborted && wishOf(registry.replay()) === undefined;
        },
      },
      replay,
      state,
    );
    if (read === undefined) return;
    const { reading: _, ...whole } = read;
    // Only a replay of all records adds rows for records that expired in the archive.
    const expired = isWhole(request) ? await listExpired(archiveOf(deps), eventLog.logId, read.archived) : [];
    const chunks = await listChunks(copying, { ...whole, expired }, request);
    await putState({ ...whole, expired, phase: 'copy', recordsToCopy: read.recordsCopied + sumOf(chunks) });
  }

  async function copy(replay: Replay, state: ReplayState): Promise<void> {
    const { request } = replay;
    const { copied } = state;
    let { recordsCopied } = state;
    for (const { records, ...chunk } of await listChunks(copying, state, request)) {
      if (copied !== undefined && inOrder(chunk, copied) <= 0) continue;
      for (await filling.lookAround(replay); filling.problem() !== undefined; await filling.lookAround(replay)) {
        await rest();
        if (signal.aborted || wishOf(registry.replay()) === 'drop') return;
      }
      if (!(await filling.gate(replay).pass(records, signal)) || wishOf(registry.replay()) !== undefined) return;
      await filling.gate(replay).statement(() => copyChunk(copying, state, request, chunk), signal);
      recordsCopied += records;
      await putState({ ...state, copied: chunk, recordsCopied });
    }
    const { copied: _, ...finished } = state;
    await putState({ ...finished, phase: 'fill', recordsCopied });
  }

  async function fill(replay: Replay, state: ReplayState): Promise<void> {
    await filling.lookAround(replay);
    // The replay stops at the newest record that the live tables have.
    const stored = await Promise.all(
      state.starts.map(async (_, partition) => (await analytics.highestRawOffset(eventLog.logId, partition)) + 1),
    );
    const reached = await fillPositions(eventLog, replay, state);
    const isRaw = readsRaw(replay, state);
    const ends = isRaw ? stored.map((end, nth) => Math.min(end, (reached[nth]?.next ?? 0) + AHEAD_MAX)) : stored;
    await filling.keepRunning(replay, state, ends);
    if (isRaw) await removeStored(state);
    const live = isRaw ? stored : await livePositions(eventLog);
    if (state.phase === 'fill' && followsLive(reached, live, filling.gate(replay).slowdown()))
      await putState({ ...state, phase: 'follow' });
  }

  /** Removes the replayed outcomes that the shadow tables already have, to free disk space. */
  async function removeStored(state: ReplayState): Promise<void> {
    const positions = await replayedPositions(eventLog, state);
    const stored = positions.map(({ next }) => next);
    if (stored.every((next, nth) => next - (removed[nth] ?? 0) < REMOVED_AT_ONCE)) return;
    await eventLog.removeBefore(TOPIC_REPLAYED, stored);
    removed = stored;
  }

  /** Whether the replay has reached the position at which the live writer was a short time ago. */
  function followsLive(reached: readonly FillPosition[], live: readonly number[], slowdown: number): boolean {
    target ??= { takenAt: clock(), offsets: live };
    const { takenAt, offsets } = target;
    if (!reached.every(({ next }, partition) => next >= (offsets[partition] ?? 0))) return false;
    target = undefined;
    return clock() - takenAt < FOLLOWS_WITHIN_MS * slowdown;
  }

  /**
   * Begins the undo of a swap. The former tables have all records up to the positions at which the live writers paused for the swap. So the
   * writer of the replay fills them from these positions.
   */
  async function beginUndo(state: ReplayState, answered: number): Promise<void> {
    const { refusal: _, ...rest } = state;
    const starts = (state.swapped?.positions ?? []).map((position) => ({ ...position, rawEnd: position.rawOffset }));
    target = undefined;
    await putState({
      ...rest,
      phase: 'fill',
      starts,
      undoing: true,
      undoFrom: state.undoFrom ?? timeAfterErasures(registry, clock()),
      recordsCopied: 0,
      recordsToCopy: 0,
      answered,
    });
  }

  async function drop({ request, state }: Replay): Promise<void> {
    await clear(request);
    if (state?.phase !== 'drop') {
      const nothing = { replayId: request.replayId, starts: [], recordsCopied: 0, recordsToCopy: 0 };
      await putState({ ...nothing, ...state, phase: 'drop' });
    }
    await fence();
    await shadow.drop();
    await fence();
    await registry.removeReplay(request.replayId);
  }

  /** Applies the migrations of this version of Weir, once, because an older version may have begun the replay. */
  async function migrateShadow({ replayId }: ReplayState): Promise<void> {
    if (migrated !== replayId) await shadow.create();
    migrated = replayId;
  }

  async function step(replay: Replay): Promise<void> {
    const { state, wish } = replay;
    if (state?.phase === 'swap' && state.swap !== undefined) {
      return continueSwap(swapping, replay, state, state.swap);
    }
    const wanted = pendingWish(replay);
    if (wanted === 'drop' || state?.phase === 'drop') return drop(replay);
    if (state === undefined || state.phase === 'create') return create(replay);
    await migrateShadow(state);
    if (state.phase === 'archive') return readArchive(replay, state);
    if (state.phase === 'copy') return copy(replay, state);
    const answered = wish?.askedAt ?? 0;
    const itself = automatic(replay, state);
    if (itself === 'drop') return drop(replay);
    if (state.phase === 'swapped' && wanted === 'undo') return beginUndo(state, answered);
    if (state.phase === 'swapped' || state.phase === 'undone') return rested(replay);
    if (state.phase === 'follow' && (wanted === 'swap' || state.undoing || itself === 'swap')) {
      return beginSwap(swapping, { ...state, answered });
    }
    return fill(replay, state);
  }

  /** Stops filling after a swap. If `from` is `raw`, also deletes the outcomes and the state, once: an undo does not need them. */
  async function rested({ request }: Replay): Promise<void> {
    await filling.stop();
    if (cleared === request.replayId) return;
    await clear(request);
    cleared = request.replayId;
  }

  /** Resolves after a second, when the replay was changed, or when `signal` aborts. */
  async function rest(): Promise<void> {
    const changed = new AbortController();
    const stop = registry.onReplayChange(() => changed.abort());
    await pauseUnlessAborted(LOOK_EVERY_MS, changed.signal, signal);
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

function sumOf(parts: readonly { readonly records: number }[]): number {
  return parts.reduce((sum, { records }) => sum + records, 0);
}

function wishOf(replay: Replay | undefined) {
  return replay === undefined ? undefined : pendingWish(replay);
}

import { GROUP_REPLAY_WRITER, TOPIC_REPLAYED } from '@weir/domain/records/topics';
import type { Replay, ReplayState } from '@weir/domain/registry/replay';
import type { DiskSpace } from '@weir/ports/disk-space';
import type { PartitionStatus } from '@weir/runtime/consume/consume-status';
import type { RunningConsumer } from '@weir/runtime/consume/run-consumer';
import { createLiveArrivals, liveLag } from './live-lag.ts';
import { type FillerDeps, startFiller } from './replay-filler.ts';
import { createReplayGate, type ReplayGate } from './replay-gate.ts';
import { runOf } from './replay-progress.ts';

export interface FillingDeps extends FillerDeps {
  readonly clock: () => number;
  readonly disk?: DiskSpace | undefined;
}

/** The running writer of the shadow tables (docs/glossary.md), and the gate that makes a replay wait so that it does not delay live traffic. */
export interface Filling {
  /** Starts the writer if it does not run. `ends`: for each partition, the raw offset (docs/glossary.md) at which the writer stops (exclusive). */
  keepRunning(replay: Replay, state: ReplayState, ends: readonly number[]): Promise<void>;
  gate(replay: Replay): ReplayGate;
  /**
   * Checks whether the replay must wait, or rest (pause between its pieces of work) while live records arrive. During a swap (docs/glossary.md), the
   * live writers pause. Their lag then does not count, and the replay does not rest, so that the pause is short.
   */
  lookAround(replay: Replay, options?: { readonly isSwap: boolean }): Promise<void>;
  stop(): Promise<void>;
  /** Stops, and removes the outcomes and the state of a replay from raw. */
  clear(): Promise<void>;
  /** Why the replay does not continue. Undefined if it continues. */
  problem(): string | undefined;
}

export function createFilling(deps: FillingDeps): Filling {
  const liveArrivals = createLiveArrivals(deps.eventLog, deps.clock);
  let gate: { readonly replayId: string; readonly gate: ReplayGate } | undefined;
  let running: { readonly run: string; readonly writer: RunningConsumer } | undefined;

  function gateOf({ request }: Replay): ReplayGate {
    if (gate?.replayId !== request.replayId) {
      gate = { replayId: request.replayId, gate: createReplayGate(request.recordsPerSecondMax, deps.clock) };
    }
    return gate.gate;
  }

  async function stop(): Promise<void> {
    const stopped = running;
    running = undefined;
    // Ends the rest after an insert, so that the writer can close at once.
    if (stopped !== undefined) gate?.gate.setBesideLive(false);
    await stopped?.writer.close();
  }

  return {
    async keepRunning(replay, state, ends) {
      gateOf(replay).setEnds(ends);
      if (running?.run === runOf(state)) return;
      await stop();
      running = { run: runOf(state), writer: await startFiller(deps, replay, state, gateOf(replay)) };
    },
    gate: gateOf,
    async lookAround(replay, { isSwap } = { isSwap: false }) {
      const lag = isSwap ? undefined : await liveLag(deps.eventLog, deps.clock);
      gateOf(replay).setObstacle(deps.disk?.shortage() ?? lag);
      const rests = await liveArrivals(gateOf(replay).admitted());
      gateOf(replay).setBesideLive(!isSwap && rests);
    },
    stop,
    async clear() {
      await stop();
      const { eventLog, raw } = deps;
      const positions = await eventLog.positions(TOPIC_REPLAYED, GROUP_REPLAY_WRITER);
      await eventLog.removeBefore(
        TOPIC_REPLAYED,
        positions.map(({ end }) => end),
      );
      await raw.removeState();
    },
    problem: () => problemOfStatus(running?.writer.status() ?? []) ?? gate?.gate.obstacle(),
  };
}

export function problemOfStatus(status: readonly PartitionStatus[]): string | undefined {
  return status.map(({ alarm, lastError }) => alarm ?? lastError).find((problem) => problem !== undefined);
}

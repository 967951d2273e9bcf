import type { Replay, ReplayState } from '@weir/domain/registry/replay';
import type { DiskSpace } from '@weir/ports/disk-space';
import type { RunningConsumer } from '@weir/runtime/consume/run-consumer';
import { liveLag } from './live-lag.ts';
import { type FillerDeps, startFiller } from './replay-filler.ts';
import { createReplayGate, type ReplayGate } from './replay-gate.ts';
import { runOf } from './replay-progress.ts';

export interface FillingDeps extends FillerDeps {
  readonly clock: () => number;
  readonly disk?: DiskSpace | undefined;
}

/** The writer of the shadow tables, while it runs, and the gate that limits all work of a replay. */
export interface Filling {
  /** Starts the writer if it does not run. It goes up to these raw offsets, by partition. */
  keepRunning(replay: Replay, state: ReplayState, ends: readonly number[]): Promise<void>;
  /** Resolves when the gate lets these records pass. False: the signal aborts. */
  pass(replay: Replay, records: number, signal: AbortSignal): Promise<boolean>;
  /** Looks whether the replay must wait. The live writers pause for a swap: their lag does not count then. */
  lookAround(replay: Replay, options?: { readonly isSwap: boolean }): Promise<void>;
  stop(): Promise<void>;
  /** Why the replay does not go on. */
  problem(): string | undefined;
}

export function createFilling(deps: FillingDeps): Filling {
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
    await stopped?.writer.close();
  }

  return {
    async keepRunning(replay, state, ends) {
      gateOf(replay).setEnds(ends);
      if (running?.run === runOf(state)) return;
      await stop();
      running = { run: runOf(state), writer: await startFiller(deps, replay, state, gateOf(replay)) };
    },
    pass: (replay, records, signal) => gateOf(replay).pass(records, signal),
    async lookAround(replay, { isSwap } = { isSwap: false }) {
      const lag = isSwap ? undefined : await liveLag(deps.eventLog, deps.clock);
      gateOf(replay).setObstacle(deps.disk?.shortage() ?? lag);
    },
    stop,
    problem() {
      const partition = running?.writer.status().find(({ alarm, lastError }) => (alarm ?? lastError) !== undefined);
      return partition?.alarm ?? partition?.lastError ?? gate?.gate.obstacle();
    },
  };
}

import { GROUP_REPLAY } from '@weir/domain/records/topics';
import type { Subscription } from '@weir/ports/event-log';
import { describeError } from '@weir/runtime/consume/consume-retry';
import { takePart } from '../background/election.ts';
import { createMutex } from '../registry/mutex.ts';
import { type Leader, type LeaderDeps, leadReplay } from './replay-leader.ts';

export interface Replayer {
  /** Why the replay does not continue. Undefined if it continues, or if another process carries it out. */
  problem(): string | undefined;
  close(): Promise<void>;
}

/** Elects the process that carries out a replay (election.ts), while there is one. */
export function startReplayer(deps: LeaderDeps): Replayer {
  const { registry, logger } = deps;
  const runExclusive = createMutex();
  let subscription: Subscription | undefined;
  let leader: Leader | undefined;
  let closed = false;

  /** Joins the group when there is a replay, and leaves it when there is none. */
  function look(): void {
    runExclusive(async () => {
      const wanted = !closed && registry.replay() !== undefined;
      if (wanted && subscription === undefined) {
        subscription = await takePart({
          ...deps,
          group: GROUP_REPLAY,
          onError: (error) => logger.warn({ err: error }, 'replay: retrying to lead'),
          lead({ signal }, fence) {
            const own = leadReplay(deps, signal, fence);
            leader = own;
            return async () => {
              await own.done;
              if (leader === own) leader = undefined;
            };
          },
        });
      } else if (!wanted && subscription !== undefined) {
        const left = subscription;
        subscription = undefined;
        await left.close();
      }
    }).catch((error: unknown) => {
      logger.warn({ reason: describeError(error).message }, 'replay: retrying to take part in its election');
      if (!closed) setTimeout(look, RETRY_MS).unref();
    });
  }

  const stopListening = registry.onReplayChange(look);
  look();

  return {
    problem: () => leader?.problem(),
    async close() {
      closed = true;
      stopListening();
      look();
      await runExclusive(async () => undefined);
    },
  };
}

const RETRY_MS = 1_000;

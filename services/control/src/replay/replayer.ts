import { GROUP_REPLAY, TABLE_REGISTRY } from '@weir/domain/records/topics';
import type { PartitionConsumer, PartitionHandle, Subscription } from '@weir/ports/event-log';
import { untilAborted } from '@weir/runtime/abortable';
import { describeError } from '@weir/runtime/consume/consume-retry';
import { passFence } from '../background/pass-fence.ts';
import { createMutex } from '../registry/mutex.ts';
import { type Leader, type LeaderDeps, leadReplay } from './replay-leader.ts';

export interface Replayer {
  /** Why the replay does not continue. Undefined if it continues, or if another process carries it out. */
  problem(): string | undefined;
  close(): Promise<void>;
}

/**
 * Elects the process that carries out a replay: the member of a consumer group to which partition 0 of the topic `registry` is assigned. The group
 * is used only for this election, so its consumers ignore the records of the topic.
 */
export function startReplayer(deps: LeaderDeps): Replayer {
  const { eventLog, registry, logger } = deps;
  const runExclusive = createMutex();
  let subscription: Subscription | undefined;
  let leader: Leader | undefined;
  let closed = false;

  async function open(handle: PartitionHandle): Promise<PartitionConsumer> {
    const { signal } = handle;
    const fence = () => passFence(handle, deps.clock);
    const own = handle.partition === 0 ? leadReplay(deps, signal, fence) : undefined;
    if (own !== undefined) leader = own;
    return {
      handle: () => untilAborted(signal),
      async close() {
        await own?.done;
        if (leader === own) leader = undefined;
      },
    };
  }

  /** Joins the group when there is a replay, and leaves it when there is none. */
  function look(): void {
    runExclusive(async () => {
      const wanted = !closed && registry.replay() !== undefined;
      if (wanted && subscription === undefined) {
        subscription = await eventLog.consume({
          topic: TABLE_REGISTRY,
          group: GROUP_REPLAY,
          open,
          onError: (error) => logger.warn({ err: error }, 'replay: retrying to lead'),
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

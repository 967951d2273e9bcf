import type { Keep } from '@weir/domain/registry/keep';
import type { Registry } from '@weir/ports/registry';
import type { ShadowTables } from '@weir/ports/shadow-tables';
import { pauseUnlessAborted } from '@weir/runtime/abortable';
import { describeError } from '@weir/runtime/consume/consume-retry';
import type { Logger } from '@weir/runtime/logger';
import { randomId } from '../registry/random-id.ts';
import { type ReplayRegistry, requestReplay } from '../replay/request-replay.ts';

export interface RebuildDeps {
  readonly registry: ReplayRegistry & Pick<Registry, 'onReplayChange'>;
  readonly shadow: Pick<ShadowTables, 'missingRebuilds'>;
  readonly clock: () => number;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly keep: Keep;
  readonly logger: Logger;
}

const LOOK_EVERY_MS = 5_000;

/**
 * If migrations need a rebuild of the tables (docs/decisions/0038), starts a replay. The replay copies all rows to new tables and exchanges these
 * with the live tables (automatic-steps.ts). It begins when no other replay, no erasure and no expiry is under way. If automatic-steps.ts drops the
 * replay before the exchange, another one begins. If an operator drops it, the next start of Weir begins another one.
 */
export function startRebuild(deps: RebuildDeps): {
  /** Resolves when the tables need no rebuild, when an operator has dropped the replay of the rebuild, or after `close`. */
  readonly done: Promise<void>;
  close(): Promise<void>;
} {
  const { registry, shadow, clock, randomBytes, keep, logger } = deps;
  const closing = new AbortController();
  let isStopped = false;
  const stopListening = registry.onReplayChange(() => {
    const replay = registry.replay();
    if (replay?.request.isAutomatic && replay.wish?.wish === 'drop') isStopped = true;
  });

  /** Resolves with true when there is nothing left to do. */
  async function look(): Promise<boolean> {
    const migrations = await shadow.missingRebuilds();
    if (migrations.length === 0 || isStopped) return true;
    const replayId = randomId('replay', randomBytes);
    const request = { replayId, from: 'tables', startedAt: clock(), keep, isAutomatic: true } as const;
    if ((await requestReplay(registry, request)) !== undefined) return false;
    logger.info({ migrations, replay: replayId }, 'rebuilding the tables for new migrations: see weir replay status');
    return false;
  }

  async function work(): Promise<void> {
    while (!closing.signal.aborted) {
      try {
        if (await look()) return;
      } catch (error) {
        logger.warn(
          { reason: describeError(error).message },
          'rebuild: retrying to find out which migrations are missing',
        );
      }
      await pauseUnlessAborted(LOOK_EVERY_MS, closing.signal);
    }
  }

  const working = work();
  return {
    done: working,
    async close() {
      closing.abort();
      stopListening();
      await working;
    },
  };
}

import type { Replay, ReplayState } from '@weir/domain/registry/replay';
import type { Registry } from '@weir/ports/registry';
import { startedAt } from '../replay/erased-rows-of-log.ts';

const SWAP_AGAIN_MS = 60_000;

/**
 * Returns a function that decides the next step of a replay that Weir has started itself (start-rebuild.ts). The replay fills a second set of tables,
 * the shadow tables. When they have all records, the step is `swap`: they become the live tables. After the swap, the step is `drop`. A swap that was
 * refused is tried again after a minute. But if an erasure has ended since the start of the replay, the shadow tables may contain erased records. The
 * step is then `drop`, and start-rebuild.ts starts another replay.
 */
export function createAutomaticSteps({
  registry,
  clock,
}: {
  readonly registry: Pick<Registry, 'erasures'>;
  readonly clock: () => number;
}): (replay: Replay, state: ReplayState) => 'swap' | 'drop' | undefined {
  let swapAgainAt: number | undefined;
  return ({ request }, state) => {
    if (!request.isAutomatic) return undefined;
    if (state.phase === 'swapped') return 'drop';
    if (state.phase !== 'follow') return undefined;
    if (state.refusal === undefined) return 'swap';
    const since = startedAt({ request, state });
    if (registry.erasures().some(({ finishedAt }) => finishedAt !== undefined && finishedAt >= since)) return 'drop';
    swapAgainAt ??= clock() + SWAP_AGAIN_MS;
    if (clock() < swapAgainAt) return undefined;
    swapAgainAt = undefined;
    return 'swap';
  };
}

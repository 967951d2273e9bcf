import type { Replay, ReplayState } from '@weir/domain/registry/replay';
import type { Registry } from '@weir/ports/registry';
import { startedAt } from '../replay/erased-rows-of-log.ts';

const SWAP_AGAIN_MS = 60_000;

/**
 * Returns a function that decides what happens next to a replay that Weir has started itself: it is swapped as soon as it has all records,
 * and dropped after the swap (docs/glossary.md). A swap that was refused is tried again after a minute. But if an erasure has ended since the
 * start of the replay, the shadow tables may contain erased records: the replay is dropped, and another one begins (start-rebuild.ts).
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

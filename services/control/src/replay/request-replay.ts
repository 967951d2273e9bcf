import type { ReplayRequest } from '@weir/domain/registry/replay';
import type { Registry } from '@weir/ports/registry';
import { hasOpenErasure } from '../erasure/request-erasure.ts';

export type ReplayRegistry = Pick<Registry, 'replay' | 'erasures' | 'expiry' | 'putReplayRequest' | 'removeReplay'>;

const EXISTS = 'there is a replay already: drop it first (weir replay drop)';
const ERASING = 'an erasure is running: start the replay when it is done';
export const EXPIRING = 'expired rows are being removed: try again when that is done (see the log)';

/** Returns why no replay can begin now, or undefined if one can. */
export function whyNoReplay(registry: ReplayRegistry): string | undefined {
  if (registry.replay() !== undefined) return EXISTS;
  if (hasOpenErasure(registry)) return ERASING;
  return registry.expiry() === undefined ? undefined : EXPIRING;
}

/** Stores the request for a replay. Resolves with undefined, or with the reason why the replay cannot begin now. */
export async function requestReplay(registry: ReplayRegistry, request: ReplayRequest): Promise<string | undefined> {
  const refused = whyNoReplay(registry);
  if (refused !== undefined) return refused;
  await registry.putReplayRequest(request);
  // If the registry has another replay, a process has requested that replay at the same time, and its request came first in the log.
  if (registry.replay()?.request.replayId === request.replayId) return undefined;
  await registry.removeReplay(request.replayId);
  return EXISTS;
}

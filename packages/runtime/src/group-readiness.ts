/** A group that shares its partitions out anew waits up to a minute for a member that finishes a batch, and every member with it. */
export const REJOIN_MAX_MS = 90_000;

/**
 * Whether a consuming role can do its work now: not before it has taken part in its group, and no longer when it has not done so for
 * `REJOIN_MAX_MS`. Asked whenever somebody wants to know; `joined` is a subscription's.
 */
export function createGroupReadiness(joined: () => boolean, clock: () => number): () => boolean {
  let hasJoined = false;
  let awaySince: number | undefined;

  return () => {
    if (joined()) {
      hasJoined = true;
      awaySince = undefined;
      return true;
    }
    awaySince ??= clock();
    return hasJoined && clock() - awaySince < REJOIN_MAX_MS;
  };
}

/**
 * How long a role may be out of its group and still count as ready. A rebalance waits up to a minute for a member that is
 * finishing a batch, and all members of the group wait meanwhile.
 */
export const REJOIN_MAX_MS = 90_000;

/**
 * Returns a function that says whether a consuming role is ready: it has joined its group, and has not been out of it for more than
 * `REJOIN_MAX_MS`. This time begins at the first call that finds the role out of the group. `joined`: the method of the subscription with this name.
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

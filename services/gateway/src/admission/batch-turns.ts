export interface BatchTurns {
  /** Resolves when a batch of this key may be processed. */
  next(keyId: string): Promise<void>;
}

const NOW = Promise.resolve();

/**
 * Starts one batch (a request with up to 500 events) in each iteration of the event loop. If batches of several API keys wait, each key in turn gets
 * one batch. A batch of 500 events needs as much CPU as hundreds of other requests. Without this limit, all batches that have arrived would be
 * processed before the next request.
 */
export function createBatchTurns(): BatchTurns {
  /** The batches that wait, by key. The first key is the next one. */
  const waiting = new Map<string, (() => void)[]>();
  let isTaken = false;

  function pass(): void {
    const [next] = waiting;
    if (next === undefined) {
      isTaken = false;
      return;
    }
    const [keyId, batches] = next;
    waiting.delete(keyId);
    batches.shift()?.();
    if (batches.length > 0) waiting.set(keyId, batches);
    setImmediate(pass);
  }

  return {
    next(keyId) {
      if (!isTaken) {
        isTaken = true;
        setImmediate(pass);
        return NOW;
      }
      return new Promise((resolve) => {
        const batches = waiting.get(keyId);
        if (batches === undefined) waiting.set(keyId, [resolve]);
        else batches.push(resolve);
      });
    },
  };
}

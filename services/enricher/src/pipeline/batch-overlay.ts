import type { StateChange } from '@weir/ports/state-store';
import type { BatchState } from './batch-state.ts';

export interface BatchOverlay extends BatchState {
  /** Returns each changed key once, with the last value that was set. */
  changes(): readonly StateChange[];
}

/** The state that was read before the batch, together with the changes that the records of the batch have made so far. */
export function createBatchOverlay(keys: readonly string[], values: readonly (string | undefined)[]): BatchOverlay {
  const read = new Map<string, string | undefined>();
  for (let i = 0; i < keys.length; i++) read.set(keys[i] as string, values[i]);
  const changed = new Map<string, StateChange>();

  return {
    get(key) {
      const change = changed.get(key);
      if (change !== undefined) return change.value;
      // Without this check, a key that was never read from the store would look like a key without a value.
      if (!read.has(key)) throw new Error('a step used a state key that it did not return from prepare');
      return read.get(key);
    },
    set(key, value, ttlMs) {
      changed.set(key, { key, value, ttlMs });
    },
    changes: () => [...changed.values()],
  };
}

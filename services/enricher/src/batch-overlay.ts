import type { FoldChange } from '@weir/ports/state-store';
import type { BatchState } from './batch-state.ts';

export interface BatchOverlay extends BatchState {
  /** Each changed key once, with its last value. */
  changes(): readonly FoldChange[];
}

/** What was read before the batch, overlaid with what its records change. */
export function createBatchOverlay(keys: readonly string[], values: readonly (string | undefined)[]): BatchOverlay {
  const read = new Map<string, string | undefined>();
  for (let i = 0; i < keys.length; i++) read.set(keys[i] as string, values[i]);
  const changed = new Map<string, FoldChange>();

  return {
    get(key) {
      const change = changed.get(key);
      if (change !== undefined) return change.value;
      // A key that was not read looks like one without a value; storing that would be wrong, silently.
      if (!read.has(key)) throw new Error('a step asked for a state key that it had not named in stateKeys');
      return read.get(key);
    },
    set(key, value, ttlMs) {
      changed.set(key, { key, value, ttlMs });
    },
    changes: () => [...changed.values()],
  };
}

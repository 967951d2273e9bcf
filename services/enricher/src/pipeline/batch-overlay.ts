import type { StateChange } from '@weir/ports/state-store';

export interface BatchState {
  get(key: string): string | undefined;
  /** Sets the value of a key for `ttlMs`. The value `undefined` removes the key. */
  set(key: string, value: string | undefined, ttlMs: number): void;
}

export interface BatchOverlay extends BatchState {
  /** Returns each changed key once, with the last value that was set. */
  changes(): readonly StateChange[];
}

interface Entry {
  readonly key: string;
  value: string | undefined;
  ttlMs: number;
  changed: boolean;
}

/** The state that was read before the batch, together with the changes that the records of the batch have made so far. */
export function createBatchOverlay(keys: readonly string[], values: readonly (string | undefined)[]): BatchOverlay {
  const entries = new Map<string, Entry>();
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    entries.set(key, { key, value: values[i], ttlMs: 0, changed: false });
  }
  const changed: Entry[] = [];

  function entryOf(key: string): Entry {
    const entry = entries.get(key);
    // Without this check, a key that was never read from the store would look like a key without a value.
    if (entry === undefined) throw new Error('a step used a state key that it did not return from prepare');
    return entry;
  }

  return {
    get: (key) => entryOf(key).value,
    set(key, value, ttlMs) {
      const entry = entryOf(key);
      entry.value = value;
      entry.ttlMs = ttlMs;
      if (!entry.changed) changed.push(entry);
      entry.changed = true;
    },
    changes: () => changed,
  };
}

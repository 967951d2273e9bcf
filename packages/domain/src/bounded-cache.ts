/**
 * A cache of at most `2 * entriesMax` values in two generations. When the young generation is full, it replaces the old one; a
 * value that is read from the old generation moves to the young one. The cache keeps about the same values as an LRU cache, at the cost of
 * a Map lookup. Values are never `undefined`.
 */
export class BoundedCache<Value> {
  readonly #entriesMax: number;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();

  constructor(entriesMax: number) {
    this.#entriesMax = entriesMax;
  }

  get(key: string): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: Value): void {
    if (this.#young.size >= this.#entriesMax) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, value);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }
}

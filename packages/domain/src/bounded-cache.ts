/**
 * A cache of at most `2 * entriesMax` values in two generations: when the young one is full it becomes the old one, and what
 * is asked for again moves back. About what an LRU keeps, for the price of a Map look-up. Values are never `undefined`.
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

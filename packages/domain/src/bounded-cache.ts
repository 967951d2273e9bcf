/**
 * A generation (see `BoundedCache`) is full when its keys have this many characters for each of its `entriesMax` values. Without this limit,
 * many long keys would need much memory.
 */
const KEY_CHARS = 128;

/**
 * A cache of at most `2 * entriesMax` values in two generations. When the young generation is full, it replaces the old one; a
 * value that is read from the old generation moves to the young one. The cache keeps about the same values as an LRU cache, at the cost of
 * a Map lookup. Values are never `undefined`.
 */
export class BoundedCache<Value> {
  readonly #entriesMax: number;
  #young = new Map<string, Value>();
  #youngChars = 0;
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
    if (this.#young.size >= this.#entriesMax || this.#youngChars >= this.#entriesMax * KEY_CHARS) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngChars = 0;
    }
    const before = this.#young.size;
    this.#young.set(key, value);
    if (this.#young.size > before) this.#youngChars += key.length;
  }

  clear(): void {
    this.#young.clear();
    this.#youngChars = 0;
    this.#old.clear();
  }
}

export interface BatchState {
  get(key: string): string | undefined;
  /** Sets the value of a key for `ttlMs`. The value `undefined` removes the key. */
  set(key: string, value: string | undefined, ttlMs: number): void;
}

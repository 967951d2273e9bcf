/** The enricher's view of the StateStore during one batch: what was read before it, overlaid with what its records changed. */
export interface BatchState {
  get(key: string): string | undefined;
  /** `undefined` removes. */
  set(key: string, value: string | undefined, ttlMs: number): void;
}

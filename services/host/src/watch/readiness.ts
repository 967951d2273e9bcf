/** The named conditions under which this process is ready. */
export interface Readiness {
  /** Adds a step that happens once. The process is not ready until `done` resolves. */
  until(name: string, done: Promise<unknown>): void;
  /** Adds a condition that is checked at each call of `missing`. */
  while(name: string, holds: () => boolean | Promise<boolean>): void;
  /** The names of the conditions that do not hold now. Empty if the process is ready. */
  missing(): Promise<readonly string[]>;
  /** Adds a function that returns a text for /readyz, or undefined if there is nothing to show. The text does not affect readiness. */
  note(text: () => string | undefined): void;
  notes(): readonly string[];
}

export function createReadiness(): Readiness {
  const noted: (() => string | undefined)[] = [];
  const checks: { readonly name: string; readonly holds: () => boolean | Promise<boolean> }[] = [];
  return {
    until(name, done) {
      let isDone = false;
      // If `done` rejects, the process never becomes ready. The code that awaits `done` handles the rejection.
      done.then(
        () => {
          isDone = true;
        },
        () => undefined,
      );
      checks.push({ name, holds: () => isDone });
    },
    while(name, holds) {
      checks.push({ name, holds });
    },
    note: (text) => void noted.push(text),
    notes: () => noted.map((text) => text()).filter((text) => text !== undefined),
    async missing() {
      const held = await Promise.all(checks.map((check) => check.holds()));
      return checks.filter((_, index) => !held[index]).map((check) => check.name);
    },
  };
}

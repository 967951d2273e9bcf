/** The named conditions under which this process is ready. */
export interface Readiness {
  /** Adds a step that happens once. The process is not ready until `done` resolves. */
  until(name: string, done: Promise<unknown>): void;
  /** Adds a condition that is checked at each call of `missing`. */
  while(name: string, holds: () => boolean | Promise<boolean>): void;
  /** Adds the conditions and texts of another thread. */
  also(source: ReadinessSource): void;
  /** The names of the conditions that do not hold now. Empty if the process is ready. */
  missing(): Promise<readonly string[]>;
  /** Adds a function that returns a text for /readyz, or undefined if there is nothing to show. The text does not affect readiness. */
  note(text: () => string | undefined): void;
  notes(): Promise<readonly string[]>;
}

export type ReadinessSource = () => Promise<{ readonly missing: readonly string[]; readonly notes: readonly string[] }>;

export function createReadiness(): Readiness {
  const sources: ReadinessSource[] = [];
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
    also: (source) => void sources.push(source),
    async notes() {
      const others = await Promise.all(sources.map((source) => source()));
      const own = noted.map((text) => text()).filter((text) => text !== undefined);
      return [...own, ...others.flatMap(({ notes }) => notes)];
    },
    async missing() {
      const [held, others] = await Promise.all([
        Promise.all(checks.map((check) => check.holds())),
        Promise.all(sources.map((source) => source())),
      ]);
      const own = checks.filter((_, index) => !held[index]).map((check) => check.name);
      return [...new Set([...own, ...others.flatMap(({ missing }) => missing)])];
    },
  };
}

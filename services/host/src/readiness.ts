/** What this process waits for before it can do its work, by name. */
export interface Readiness {
  /** A one-time step: not ready until `done` resolves. */
  until(name: string, done: Promise<unknown>): void;
  /** A standing condition. */
  while(name: string, holds: () => boolean | Promise<boolean>): void;
  /** The names of what is missing now; empty: ready. */
  missing(): Promise<readonly string[]>;
}

export function createReadiness(): Readiness {
  const checks: { readonly name: string; readonly holds: () => boolean | Promise<boolean> }[] = [];
  return {
    until(name, done) {
      let isDone = false;
      // A rejection is the business of whoever awaits `done`; here it only never becomes ready.
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
    async missing() {
      const held = await Promise.all(checks.map((check) => check.holds()));
      return checks.filter((_, index) => !held[index]).map((check) => check.name);
    },
  };
}

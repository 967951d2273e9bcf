/**
 * Returns the result of `run`, or undefined if it throws. In sandboxes and with some settings, browsers throw on access to
 * storage and cookies.
 */
export function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    // Returns undefined.
  }
}

/** The storage of the browser for this origin. If the browser refuses access, an object in the memory of this page. */
const storage: Record<string, string | number> = attempt(() => localStorage) || {};

/** Reads a value from the storage. */
export function kept(name: string): string {
  return (storage[name] as string) || '';
}

/** Writes a value to the storage. An empty text removes the value. */
export function keep(name: string, text: string | number): void {
  attempt(() => {
    if (text) storage[name] = text;
    else delete storage[name];
  });
}

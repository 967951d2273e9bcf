/** The result, or undefined if the browser throws: storage and cookies do so in sandboxes and with some settings. */
export function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

/** Used if the browser refuses storage: the memory of this page. */
const storage: Record<string, string | number> = attempt(() => localStorage) || {};

/** A value in the browser's storage for this origin. */
export function kept(name: string): string {
  return (storage[name] as string) || '';
}

/** An empty text removes the value. */
export function keep(name: string, text: string | number): void {
  attempt(() => {
    if (text) storage[name] = text;
    else delete storage[name];
  });
}

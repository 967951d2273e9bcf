/** The result, or undefined where a browser refuses: storage and cookies throw in sandboxes and under some settings. */
export function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

/** Where the browser refuses its storage, this page's own memory serves. */
const storage: Record<string, string | number> = attempt(() => localStorage) || {};

/** What this browser keeps under a name for the origin. */
export function kept(name: string): string {
  return (storage[name] as string) || '';
}

/** An empty text removes it. */
export function keep(name: string, text: string | number): void {
  attempt(() => {
    if (text) storage[name] = text;
    else delete storage[name];
  });
}

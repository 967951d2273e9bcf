/** The result, or undefined where a browser refuses: storage and cookies throw in sandboxes and under some settings. */
export function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

/** What this browser keeps under a name for the origin. */
export function kept(name: string): string {
  return attempt(() => localStorage[name]) || '';
}

/** An empty text removes it. */
export function keep(name: string, text: string | number): void {
  attempt(() => {
    if (text) localStorage[name] = text;
    else delete localStorage[name];
  });
}

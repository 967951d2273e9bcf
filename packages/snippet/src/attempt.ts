/** The result, or undefined where a browser refuses: storage and cookies throw in sandboxes and under some settings. */
export function attempt<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

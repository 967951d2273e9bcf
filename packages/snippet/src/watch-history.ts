/** Calls `moved` when the path changes without a page load. A change of only the query does not count. */
export function watchHistory(path: () => string, moved: () => void): void {
  let last = path();
  const look = (): void => {
    // biome-ignore lint/suspicious/noAssignInExpressions: saves 8 bytes
    if (last !== (last = path())) moved();
  };
  for (const name of ['pushState', 'replaceState'] as const) {
    const original = history[name];
    history[name] = (...args) => {
      original.apply(history, args);
      look();
    };
  }
  addEventListener('popstate', look);
}

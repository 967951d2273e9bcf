/** Calls `moved` whenever the page's path has become another one without a load. A change of the query alone is no move. */
export function watchHistory(path: () => string, moved: () => void): void {
  let last = path();
  const look = (): void => {
    // biome-ignore lint/suspicious/noAssignInExpressions: 8 bytes
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

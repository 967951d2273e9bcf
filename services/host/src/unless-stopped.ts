/** Settles as `work` does, unless `stop` aborts first: then it rejects with that signal's reason, and `work` is left to itself. */
export function unlessStopped<T>(work: Promise<T>, stop: AbortSignal): Promise<T> {
  const stopped = new Promise<never>((_, reject) => {
    const end = (): void => reject(stop.reason);
    if (stop.aborted) end();
    else stop.addEventListener('abort', end, { once: true });
  });
  return Promise.race([work, stopped]);
}

/** Settles as `work` does, unless `stop` aborts first: then it rejects with that signal's reason, and `work` is left to itself. */
export async function unlessStopped<T>(work: Promise<T>, stop: AbortSignal): Promise<T> {
  let end = (): void => undefined;
  const stopped = new Promise<never>((_, reject) => {
    end = () => reject(stop.reason);
    if (stop.aborted) end();
    else stop.addEventListener('abort', end, { once: true });
  });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    stop.removeEventListener('abort', end);
  }
}

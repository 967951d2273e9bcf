/** Settles as `work` does. If `stop` aborts first, the promise rejects with the reason of `stop`; `work` is not cancelled. */
export async function abortable<T>(work: Promise<T>, stop: AbortSignal): Promise<T> {
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

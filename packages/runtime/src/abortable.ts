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

/** Returns `work`, which the caller awaits later. Until then, its rejection does not end the process as an unhandled rejection. */
export function awaitedLater<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  return work;
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/**
 * Resolves after this time, or as soon as one of the signals aborts. Never rejects. Does not use `AbortSignal.any`: in Node 20, a signal keeps a
 * reference to each signal that was made from it.
 */
export function pauseUnlessAborted(ms: number, ...signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    for (const signal of signals) signal.addEventListener('abort', end, { once: true });
    if (signals.some(({ aborted }) => aborted)) end();
  });
}

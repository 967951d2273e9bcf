/**
 * Runs tasks one after the other. No other change of the registry can happen between a read and the write that depends on it.
 */
export type RunExclusive = <T>(task: () => Promise<T>) => Promise<T>;

export function createMutex(): RunExclusive {
  let tail: Promise<unknown> = Promise.resolve();
  return (task) => {
    const run = tail.then(task, task);
    tail = run.then(
      () => undefined,
      () => undefined,
    );
    return run;
  };
}

/**
 * Runs tasks one after the other. If every change of the registry is such a task, no other change can happen between a task's read
 * and the write that depends on it.
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

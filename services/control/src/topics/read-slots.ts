/** Runs `work`. Returns undefined at once if the maximum number of tasks is already running. */
export type RunInSlot = <T>(work: () => Promise<T>) => Promise<T> | undefined;

export function createReadSlots(max: number): RunInSlot {
  let running = 0;
  return (work) => {
    if (running >= max) return undefined;
    running += 1;
    return work().finally(() => {
      running -= 1;
    });
  };
}

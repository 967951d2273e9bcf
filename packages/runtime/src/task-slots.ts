/** Runs at most `slotsMax` tasks at the same time, in the order of the calls. */
export type Slots = <T>(task: () => Promise<T>) => Promise<T>;

export function createSlots(slotsMax: number): Slots {
  const waiting: (() => void)[] = [];
  let free = slotsMax;

  return async (task) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free++;
      else next();
    }
  };
}

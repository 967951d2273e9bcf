/** Closes opened resources in the reverse order. */
export interface Stack {
  /** Registers how to close `opened`, and returns `opened`. */
  add<T>(opened: T, close: (opened: T) => Promise<unknown> | unknown): T;
  /**
   * Closes all resources, the last one first. A failure does not stop this: the other resources are closed, and then the promise rejects
   * with the first failure. A second call does nothing.
   */
  close(): Promise<void>;
}

export function createStack(): Stack {
  const closers: (() => Promise<unknown> | unknown)[] = [];
  return {
    add(opened, close) {
      closers.push(() => close(opened));
      return opened;
    },
    async close() {
      const failures: unknown[] = [];
      for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) {
        try {
          await closer();
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length > 0) throw failures[0];
    },
  };
}

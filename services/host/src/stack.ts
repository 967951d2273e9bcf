interface Closable {
  close(): unknown;
}

/** Closes opened resources in the reverse order. */
export interface Stack {
  /** Registers `opened`, and returns it. `close` calls the method `close` of `opened`, or this function. */
  add<T extends Closable>(opened: T): T;
  add<T>(opened: T, close: (opened: T) => unknown): T;
  /**
   * Closes all resources, the last one first. A failure does not stop this: the other resources are closed, and then the promise rejects
   * with the first failure. A second call does nothing.
   */
  close(): Promise<void>;
}

export function createStack(): Stack {
  const closers: (() => unknown)[] = [];
  return {
    add<T>(opened: T, close = (resource: T) => (resource as Closable).close()) {
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

/** Failed sign-ins per address and minute. Bounded: when full, the oldest address is forgotten. */
export interface SignInLimit {
  /** Seconds until the address may try again; 0: now. */
  waitSeconds(address: string): number;
  failed(address: string): void;
}

const FAILURES_MAX = 30;
const WINDOW_MS = 60_000;
const ADDRESSES_MAX = 10_000;

export function createSignInLimit(clock: () => number): SignInLimit {
  const failures = new Map<string, { count: number; readonly until: number }>();
  const current = (address: string) => {
    const entry = failures.get(address);
    return entry !== undefined && entry.until > clock() ? entry : undefined;
  };
  return {
    waitSeconds(address) {
      const entry = current(address);
      if (entry === undefined || entry.count < FAILURES_MAX) return 0;
      return Math.ceil((entry.until - clock()) / 1000);
    },
    failed(address) {
      const entry = current(address);
      if (entry !== undefined) {
        entry.count += 1;
        return;
      }
      failures.delete(address);
      const oldest = failures.keys().next();
      if (failures.size >= ADDRESSES_MAX && !oldest.done) failures.delete(oldest.value);
      failures.set(address, { count: 1, until: clock() + WINDOW_MS });
    },
  };
}

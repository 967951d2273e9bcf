export interface ScheduleOptions {
  readonly perSecond: number;
  /**
   * If it is true, the clock is checked in each turn of the event loop, so a request is sent within microseconds of its planned time. This keeps
   * one core busy. Otherwise the clock is checked every millisecond, and most requests are sent up to about 1 ms late.
   */
  readonly precise: boolean;
  /** Milliseconds. */
  clock(): number;
}

export interface SendSchedule {
  /** The number of requests that were sent. */
  sent(): number;
  /** Sends no more requests. */
  stop(): void;
}

const TICK_MS = 1;

/**
 * Calls `send` for request 0, 1, 2 … when it is due. Request n is planned n / `perSecond` seconds after the start. If the process is late, all
 * requests that are due are sent at once.
 */
export function startSchedule(
  { perSecond, precise, clock }: ScheduleOptions,
  send: (n: number, plannedAtMs: number) => void,
): SendSchedule {
  const startedAt = clock();
  let sent = 0;
  let isStopped = false;
  const plannedAt = (n: number): number => startedAt + (n * 1000) / perSecond;

  const sendDue = (): void => {
    const now = clock();
    while (!isStopped && plannedAt(sent) <= now) {
      const n = sent++;
      send(n, plannedAt(n));
    }
  };
  // A timer cannot be more precise than 1 ms. The turns of `setImmediate` also read the sockets, so answers do not wait.
  const turn = (): void => {
    sendDue();
    if (!isStopped) setImmediate(turn);
  };
  const timer = precise ? undefined : setInterval(sendDue, TICK_MS);
  if (precise) setImmediate(turn);

  return {
    sent: () => sent,
    stop() {
      isStopped = true;
      clearInterval(timer);
    },
  };
}

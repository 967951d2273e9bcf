import type { Logger } from '@weir/runtime/logger';

/**
 * Wraps a call to another thread. The result is undefined if there is no answer within `timeoutMs`. Until a late answer arrives, further calls
 * give undefined at once, so that messages to a blocked thread do not accumulate.
 */
export function answeredWithin<Result>(
  call: () => Promise<Result>,
  timeoutMs: number,
): () => Promise<Result | undefined> {
  let late: Promise<Result> | undefined;
  return async () => {
    if (late !== undefined) return undefined;
    const answer = call();
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => {
        late = answer;
        const arrived = (): void => {
          if (late === answer) late = undefined;
        };
        answer.then(arrived, arrived);
        resolve(undefined);
      }, timeoutMs).unref();
    });
    try {
      return await Promise.race([answer, timeout]);
    } finally {
      clearTimeout(timer);
    }
  };
}

export interface HeartbeatOptions {
  /** A call that the other thread answers at once. */
  readonly ping: () => Promise<void>;
  readonly everyMs: number;
  readonly missedMax: number;
  readonly logger: Pick<Logger, 'error'>;
  /** Called once, when a ping had no answer for `missedMax` beats (intervals of `everyMs`) in sequence. */
  readonly onSilent: (error: Error) => void;
}

/**
 * Watches whether the other thread answers, by a timer that beats every `everyMs`. It counts beats and not time, because a suspended process
 * (SIGSTOP) misses no beat. Returns a
 * function that ends the watch.
 */
export function watchHeartbeat({ ping, everyMs, missedMax, logger, onSilent }: HeartbeatOptions): () => void {
  let isWaiting = false;
  let missed = 0;
  const answered = (): void => {
    isWaiting = false;
    missed = 0;
  };
  const timer = setInterval(() => {
    if (!isWaiting) {
      isWaiting = true;
      // A rejected ping counts as an answer: the link is then closed, and pipeline-thread.ts reports a failure of the thread.
      ping().then(answered, answered);
      return;
    }
    missed += 1;
    if (missed < missedMax) return;
    clearInterval(timer);
    const error = new Error(
      `the pipeline thread has not answered for ${Math.round((missed * everyMs) / 1000)} s: the process ends, start Weir again`,
    );
    logger.error({ err: error }, 'the pipeline thread does not answer');
    onSilent(error);
  }, everyMs).unref();
  return () => clearInterval(timer);
}

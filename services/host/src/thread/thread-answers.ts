import type { Logger } from '@weir/runtime/logger';

/** How long requests wait for an answer of another thread or process. */
const ANSWER_WITHIN_MS = 2_000;
const HEARTBEAT_MS = 5_000;
const HEARTBEATS_MISSED_MAX = 12;

/**
 * Wraps a call to another thread or process. The result is undefined if there is no answer within `timeoutMs`. Until a late answer arrives, further
 * calls give undefined at once, so that messages to a blocked receiver do not accumulate.
 */
export function answeredWithin<Arguments extends readonly unknown[], Result>(
  call: (...parameters: Arguments) => Promise<Result>,
  timeoutMs = ANSWER_WITHIN_MS,
): (...parameters: Arguments) => Promise<Result | undefined> {
  let late: Promise<Result> | undefined;
  return async (...parameters) => {
    if (late !== undefined) return undefined;
    const answer = call(...parameters);
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
  /** A call that the other thread or process answers at once. */
  readonly ping: () => Promise<void>;
  /** The name of the other thread or process in log lines. */
  readonly who: string;
  /** What `onSilent` does, as the end of a sentence. */
  readonly consequence: string;
  /** Default: 5 s. */
  readonly everyMs?: number;
  /** Default: 12. */
  readonly missedMax?: number;
  readonly logger: Pick<Logger, 'error'>;
  /** Called once, when a ping had no answer for `missedMax` beats (intervals of `everyMs`) in sequence. */
  readonly onSilent: (error: Error) => void;
}

/**
 * Watches whether the other thread or process answers. Every `everyMs`, a timer sends a ping, or counts a missed beat if the last ping has no
 * answer yet. Beats are counted instead of measuring the elapsed time: after a suspension of the process (SIGSTOP), much time has passed although
 * the other thread works. Returns a function that ends the watch.
 */
export function watchHeartbeat(options: HeartbeatOptions): () => void {
  const { ping, who, consequence, logger, onSilent } = options;
  const { everyMs = HEARTBEAT_MS, missedMax = HEARTBEATS_MISSED_MAX } = options;
  let isWaiting = false;
  let missed = 0;
  const answered = (): void => {
    isWaiting = false;
    missed = 0;
  };
  const timer = setInterval(() => {
    if (!isWaiting) {
      isWaiting = true;
      // A rejected ping counts as an answer: the link is then closed, and the owner of the thread or process reports its failure.
      ping().then(answered, answered);
      return;
    }
    missed += 1;
    if (missed < missedMax) return;
    clearInterval(timer);
    const silentSeconds = Math.round((missed * everyMs) / 1000);
    const error = new Error(`${who} has not answered for ${silentSeconds} s: ${consequence}`);
    logger.error({ err: error }, `${who} does not answer`);
    onSilent(error);
  }, everyMs).unref();
  return () => clearInterval(timer);
}

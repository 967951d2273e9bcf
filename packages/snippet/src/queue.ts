import { attempt, keep, kept } from './attempt.ts';
import type { Mode } from './mode.ts';

/** Hits on their way out: in order, one at a time, kept until the server has answered. */
export interface Queue {
  /** Sends a hit, after those that wait. Without one: goes on with those that wait, the stored ones first. */
  send(body?: string): void;
  /** The page is hidden, or ends: what waits goes out as beacons, and what can't is stored for the next page. */
  leave(): void;
}

export const QUEUE_NAME = 'weir.q';
const WAITING_HITS_MAX = 60;
/** Longer with every failure in a row of all endpoints. */
const WAIT_SECONDS = 3;
/** Whatever Retry-After says; a browser's timers take no more than 24 days, and end at once. */
const WAIT_SECONDS_MAX = 3600;
const TOO_MANY = 429;
/** Of at most 3 bytes each. What browsers send for a page that has ended is 64 KiB at once; they refuse more, and at once. */
const KEEPALIVE_CHARS_MAX = 2e4;

/** Further endpoints are tried when one can't be reached. */
export function createQueue(endpoints: string[], mode: () => Mode): Queue {
  const hits: string[] = [];
  /** 1 while the first hit is under way. */
  let busy = 0;
  /** In a row; one more while the first hit is under way. */
  let failures = 0;
  let timer: number | undefined;

  const takeStored = (): string[] => {
    const stored = attempt(() => JSON.parse(kept(QUEUE_NAME))) || [];
    keep(QUEUE_NAME, '');
    return stored;
  };

  /** The first that waits. None does after an opt-out, in another tab too. */
  const next = (): string | undefined => {
    hits.splice(busy, (mode() as number) > 2 ? WAITING_HITS_MAX : hits.length - WAITING_HITS_MAX);
    return hits[busy];
  };

  const goOn = (): void => {
    timer = clearTimeout(timer) as undefined;
    queue.send();
  };

  const queue: Queue = {
    async send(body) {
      if (body) hits.push(body);
      else hits.splice(busy, 0, ...takeStored());
      if (!next() || busy || timer) return;
      busy = 1;
      failures++;
      let retryAfter: string | null | undefined;
      try {
        const answer = await fetch(endpoints[0] as string, {
          method: 'POST',
          body: hits[0] as string,
          keepalive: !(hits[0] as string)[KEEPALIVE_CHARS_MAX],
        });
        if (answer.status < 500 && answer.status - TOO_MANY) {
          hits.shift();
          failures = 0;
        }
        retryAfter = answer.headers.get('retry-after');
      } catch {
        endpoints.push(endpoints.shift() as string);
      }
      busy = 0;
      if (failures) {
        const seconds = +(retryAfter as string) || ((failures / endpoints.length) | 0) * WAIT_SECONDS;
        timer = setTimeout(goOn, Math.min(seconds, WAIT_SECONDS_MAX) * 1e3);
      } else queue.send();
    },
    leave() {
      // A server that is known to be failing would lose a beacon, which tells nobody.
      while (next() && failures === busy && attempt(() => navigator.sendBeacon(endpoints[0] as string, hits[busy]))) {
        hits.splice(busy, 1);
      }
      if (next() && !mode()) {
        keep(QUEUE_NAME, JSON.stringify(takeStored().concat(hits.splice(busy)).slice(-WAITING_HITS_MAX)));
      }
    },
  };
  addEventListener('online', goOn);
  return queue;
}

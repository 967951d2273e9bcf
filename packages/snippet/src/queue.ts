import { attempt, keep, kept } from './attempt.ts';

/** Hits on their way out: in order, one at a time, kept until the server has answered. */
export interface Queue {
  /** Sends a hit, after those that wait. Without one: goes on with those that wait, the stored ones first. */
  send(body?: string): void;
  /** The page is hidden, or ends: what waits goes out as beacons, and what can't is stored for the next page. */
  leave(): void;
}

export const QUEUE_NAME = 'weir.q';
const WAITING_HITS_MAX = 60;
/** Longer with every failure in a row. */
const WAIT_SECONDS = 3;

/** `keepsNothing`: whether this browser may keep nothing now. Further endpoints are tried when one can't be reached. */
export function createQueue(endpoints: string[], keepsNothing: () => unknown): Queue {
  const hits: string[] = [];
  /** 1 while the first hit is under way. */
  let busy = 0;
  let failures = 0;
  let timer = 0;

  const takeStored = (): string[] => {
    const text = kept(QUEUE_NAME);
    keep(QUEUE_NAME, '');
    return attempt(() => JSON.parse(text)) || [];
  };

  const goOn = (): void => {
    clearTimeout(timer);
    timer = 0;
    queue.send();
  };

  const flush = async (): Promise<void> => {
    if (busy || timer || !hits[0]) return;
    busy = 1;
    let retryAfter: string | null | undefined;
    try {
      const { status, headers } = await fetch(endpoints[0] as string, {
        method: 'POST',
        body: hits[0],
        keepalive: true,
      });
      if (status < 500 && status !== 429) {
        hits.shift();
        failures = -1;
      }
      retryAfter = headers.get('retry-after');
    } catch {
      endpoints.push(endpoints.shift() as string);
    }
    busy = 0;
    if (failures++ >= 0) {
      timer = setTimeout(goOn, (+(retryAfter as string) || failures * WAIT_SECONDS) * 1e3);
    } else void flush();
  };

  const queue: Queue = {
    send(body) {
      if (body) hits.push(body);
      else hits.splice(busy, 0, ...takeStored());
      if (hits[WAITING_HITS_MAX]) hits.splice(busy, 1);
      void flush();
    },
    leave() {
      // A server that is known to be failing would lose a beacon, which tells nobody.
      while (hits[busy] && !failures && attempt(() => navigator.sendBeacon(endpoints[0] as string, hits[busy]))) {
        hits.splice(busy, 1);
      }
      if (!keepsNothing() && hits[busy]) keep(QUEUE_NAME, JSON.stringify(takeStored().concat(hits.splice(busy))));
    },
  };
  addEventListener('online', goOn);
  return queue;
}

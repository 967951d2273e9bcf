import { attempt } from './attempt.ts';

/** Hits on their way out: in order, one at a time, kept until the server has answered. */
export interface Queue {
  push(body: string): void;
  /** Sends what waits; call it when the page is seen, or is seen again. */
  resume(): void;
  /** The page ends, or may: what waits goes out as beacons, and what can't is stored for the next page. */
  leave(): void;
  clear(): void;
}

const NAME = 'weir.q';
const WAITING_HITS_MAX = 60;
const WAIT_SECONDS_MAX = 60;

/** `mayStore`: whether this browser may keep anything. Further endpoints are tried when one can't be reached. */
export function createQueue(endpoints: string[], mayStore: () => boolean): Queue {
  let hits: string[] = [];
  /** 1 while the first hit is under way. */
  let busy = 0;
  let failures = 0;
  let waitUntil = 0;
  let timer: number | undefined;

  const stored = (): string[] =>
    attempt(() => {
      const text = localStorage[NAME];
      delete localStorage[NAME];
      return JSON.parse(text);
    }) || [];

  const wait = (seconds: number): void => {
    failures++;
    waitUntil = Date.now() + (seconds + Math.random()) * 1e3;
  };

  const flush = (): void => {
    clearTimeout(timer);
    if (busy || !hits.length) return;
    const early = waitUntil - Date.now();
    if (early > 0) {
      timer = setTimeout(flush, early);
      return;
    }
    busy = 1;
    fetch(endpoints[0] as string, { method: 'POST', body: hits[0] as string, keepalive: true })
      .then(
        ({ status, headers }) => {
          if (status < 500 && status !== 429) {
            failures = 0;
            hits.shift();
          } else wait(+(headers.get('retry-after') as string) || (status < 500 ? WAIT_SECONDS_MAX : backoff()));
        },
        () => {
          endpoints.push(endpoints.shift() as string);
          wait(backoff());
        },
      )
      .then(() => {
        busy = 0;
        flush();
      });
  };
  const backoff = (): number => Math.min(2 ** failures, WAIT_SECONDS_MAX);

  const queue: Queue = {
    push(body) {
      hits.push(body);
      if (hits.length > WAITING_HITS_MAX) hits.splice(busy, 1);
      flush();
    },
    resume() {
      hits.splice(busy, 0, ...stored());
      waitUntil = failures && waitUntil;
      flush();
    },
    leave() {
      const underWay = hits.splice(0, busy);
      // A server that is known to be failing would lose a beacon, which tells nobody.
      while (
        hits.length &&
        navigator.onLine &&
        !(failures && mayStore()) &&
        navigator.sendBeacon(endpoints[0] as string, hits[0])
      ) {
        hits.shift();
      }
      if (hits.length && mayStore()) {
        attempt(() => {
          localStorage[NAME] = JSON.stringify(stored().concat(hits));
          hits = [];
        });
      }
      hits = underWay.concat(hits);
    },
    clear() {
      stored();
      hits.splice(busy);
    },
  };
  addEventListener('online', () => {
    waitUntil = 0;
    queue.resume();
  });
  return queue;
}

import { attempt, keep, kept } from './attempt.ts';
import type { Mode } from './mode.ts';

/** The queue of hits. Hits are sent in order, one at a time. A hit is sent again after a failure, a 408, a 429 or a 5xx. */
export interface Queue {
  /**
   * With a hit: adds it to the end and sends the queue. Without a hit: first adds the hits that an earlier page stored, then
   * sends the queue.
   */
  send(body?: string): void;
  /**
   * Call it when the page is hidden or ends. Waiting hits are sent as beacons. Hits that cannot be sent in this way are stored
   * for the next page, except in cookieless mode.
   */
  leave(): void;
}

const WAITING_HITS_MAX = 60;
/**
 * The pause after a failure without Retry-After is this time multiplied by the number of consecutive failures. If an endpoint cannot be reached, that
 * number is first divided by the number of endpoints and rounded down. So if the first attempt does not reach its endpoint, the next endpoint is
 * tried at once.
 */
const WAIT_SECONDS = 3;
/** Upper limit of the pause, also with Retry-After. Browser timers of more than 24 days fire at once. */
const WAIT_SECONDS_MAX = 3600;
/** The value of `Mode` (mode.ts) after an opt-out. */
const OPTED_OUT = 3;
/**
 * Longer hits are sent without keepalive. Browsers refuse keepalive requests if they have more than 64 KiB in all, and a character
 * has up to 3 bytes.
 */
const KEEPALIVE_CHARS_MAX = 2e4;

/**
 * Creates the queue. If an endpoint cannot be reached, the queue tries the next one. Returns a tuple, because the names of properties would stay in
 * the scripts.
 */
export function createQueue(
  endpoints: string[],
  mode: () => Mode,
): readonly [leave: Queue['leave'], send: Queue['send']] {
  const hits: string[] = [];
  /** 1 while the first hit is being sent. */
  let busy = 0;
  /** The number of consecutive failures, plus 1 while the first hit is being sent. */
  let failures = 0;
  let timer: number | undefined;

  /** Drops the oldest hits over the limit, or all after an opt-out (also in another tab). Returns the first waiting hit, if any. */
  const next = (): string | undefined => {
    hits.splice(busy, hits.length - WAITING_HITS_MAX * ((mode() !== OPTED_OUT) as unknown as number));
    return hits[busy];
  };

  /** Takes the hits that an earlier page stored. They are older than those that wait. */
  const takeStored = (): void => {
    attempt(() => hits.splice(busy, 0, ...JSON.parse(kept('weir.q') as string)));
    keep('weir.q', '');
  };

  const goOn = (): void => {
    timer = clearTimeout(timer) as undefined;
    send();
  };

  const send: Queue['send'] = async (body) => {
    if (body) hits.push(body);
    else takeStored();
    // A hidden page can end without an event, so hits that wait for the timer are stored.
    if (!next() || busy || timer) return timer && document.hidden && leave();
    busy = 1;
    let retryAfter: string | null | undefined;
    let pauses = ++failures;
    try {
      const answer = await fetch(endpoints[0] as string, {
        method: 'POST',
        body: hits[0] as string,
        keepalive: !(hits[0] as string)[KEEPALIVE_CHARS_MAX],
      });
      if (!/5..|408|429/.test(answer.status as unknown as string)) {
        hits.shift();
        failures = 0;
      }
      retryAfter = answer.headers.get('retry-after');
    } catch {
      pauses = (pauses / endpoints.push(endpoints.shift() as string)) | 0;
    }
    busy = 0;
    if (failures) {
      timer = setTimeout(goOn, Math.min(+(retryAfter as string) || pauses * WAIT_SECONDS, WAIT_SECONDS_MAX) * 1e3);
    }
    send();
  };

  const leave = (): void => {
    // After a failed request no beacon is sent, because it could be lost: the page does not receive an answer to a beacon.
    while (next() && failures === busy && attempt(() => navigator.sendBeacon(endpoints[0] as string, hits[busy]))) {
      hits.splice(busy, 1);
    }
    if (next() && !((mode() as number) & 1)) {
      takeStored();
      next();
      keep('weir.q', JSON.stringify(hits.splice(busy)));
    }
  };

  addEventListener('online', goOn);
  return [leave, send];
}

import { BoundedCache } from '@weir/domain/bounded-cache';
import { type CookielessVisitor, cookielessVisitorId } from '@weir/domain/people/cookieless';
import { visitorSessionsKey } from '@weir/domain/records/state-keys';

export interface VisitorKeys {
  readonly visitorId: string;
  /** The state key of the visitor's sessions. */
  readonly sessionsKey: string;
}

interface LastVisitor extends VisitorKeys {
  readonly siteId: string;
  readonly userAgent: string;
  readonly lineDay: string;
}

/** The size of the cache. A `BoundedCache` holds at most twice its size. */
const ADDRESSES_MAX = 5_000;

/**
 * Returns a function that computes the ID of a cookieless visitor. It remembers the last visitor of each client IP, because most visitors have
 * several hits, and computing the ID took 8 % of the CPU time of a hit. Another salt clears the cache: when the salt of a day is deleted, memory must
 * not contain which address had which visitor ID on that day.
 */
export function createVisitorIds(): (salt: string, visitor: CookielessVisitor) => VisitorKeys {
  const lastOf = new BoundedCache<LastVisitor>(ADDRESSES_MAX);
  let saltOfAll = '';
  return (salt, visitor) => {
    if (salt !== saltOfAll) {
      lastOf.clear();
      saltOfAll = salt;
    }
    const { siteId, ip, userAgent, lineDay } = visitor;
    const last = lastOf.get(ip);
    if (last?.userAgent === userAgent && last.lineDay === lineDay && last.siteId === siteId) return last;
    const visitorId = cookielessVisitorId(salt, visitor);
    const keys = { visitorId, sessionsKey: visitorSessionsKey(siteId, visitorId), siteId, userAgent, lineDay };
    lastOf.set(ip, keys);
    return keys;
  };
}

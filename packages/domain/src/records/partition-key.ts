import { createHash } from 'node:crypto';
import { visitorNetwork } from '../net/ip-address.ts';

/** What a record says about whose it is. Empty text: nothing. */
export interface RecordOwner {
  readonly siteId: string;
  readonly eventId: string;
  /** The user of an identify, or of an event that names no visitor. */
  readonly userId: string;
  readonly visitorId: string;
  readonly idempotencyKey: string;
}

const CHARS_MAX = 256;

/**
 * The key that decides a record's partition: the user where the record is an identify or names only a user; else the visitor;
 * else the idempotency key; else the event. So an identify is ahead of the events that rely on its user by log order alone.
 */
export function partitionKey(owner: RecordOwner, isIdentify: boolean): string {
  const { siteId, userId, visitorId, idempotencyKey } = owner;
  if (userId !== '' && (isIdentify || visitorId === '')) return short(siteId, 'u', userId);
  if (visitorId !== '') return short(siteId, 'v', visitorId);
  if (idempotencyKey !== '') return short(siteId, 'k', idempotencyKey);
  return short(siteId, 'e', owner.eventId);
}

/** Of a cookieless hit: site, address (an IPv6's /64) and user agent, as in its visitor ID, without the salt. */
export function cookielessPartitionKey(siteId: string, ip: string, userAgent: string): string {
  return short(siteId, 'c', digest(`${visitorNetwork(ip)}\0${userAgent}`));
}

function short(siteId: string, kind: string, id: string): string {
  const key = `${siteId}/${kind}/${id}`;
  return key.length <= CHARS_MAX ? key : `${kind}/${digest(key)}`;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

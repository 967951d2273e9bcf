import { hash } from 'node:crypto';
import { visitorNetwork } from '../net/ip-address.ts';

/** The IDs in a record from which its partition key is made. An absent ID is empty. */
export interface RecordOwner {
  readonly siteId: string;
  readonly eventId: string;
  /** The user ID of an identify, or of an event that names a user. */
  readonly userId: string;
  readonly visitorId: string;
  readonly idempotencyKey: string;
}

const CHARS_MAX = 256;

/**
 * The key that selects the partition of a record: the user, if the record is an identify or has a user but no visitor; otherwise the
 * visitor; otherwise the idempotency key; otherwise the event. An event with only a user ID needs the visitor that an earlier identify of
 * this user named. Both records are in one partition, so the enricher processes the identify first.
 */
export function partitionKey(owner: RecordOwner, isIdentify: boolean): string {
  const { siteId, userId, visitorId, idempotencyKey } = owner;
  if (userId !== '' && (isIdentify || visitorId === '')) return short(siteId, 'u', userId);
  if (visitorId !== '') return short(siteId, 'v', visitorId);
  if (idempotencyKey !== '') return short(siteId, 'k', idempotencyKey);
  return short(siteId, 'e', owner.eventId);
}

/**
 * The partition key of a cookieless hit. Like the visitor ID, it depends on the site, the client IP (of IPv6, the /64) and the user agent.
 * Unlike the visitor ID, it does not depend on the salt of the day.
 */
export function cookielessPartitionKey(siteId: string, ip: string, userAgent: string): string {
  return short(siteId, 'c', digest(`${visitorNetwork(ip)}\0${userAgent}`));
}

function short(siteId: string, kind: string, id: string): string {
  const key = `${siteId}/${kind}/${id}`;
  return key.length <= CHARS_MAX ? key : `${kind}/${digest(key)}`;
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url');
}

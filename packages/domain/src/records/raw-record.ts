import type { JsonObject } from '../json/json.ts';
import type { IdentityProof } from '../people/identity-signature.ts';

/**
 * Which door a record came through. `identify` is POST /api/identify; an identify hit of the browser is a `collect`. `unlink`
 * is the admin API's: `{visitor_id, user_id}`, and takes back what identifies before it said of the two.
 */
export type RecordKind = 'collect' | 'event' | 'identify' | 'import' | 'unlink';

/**
 * A record of `events.raw`: what the gateway accepted, as it was sent, with what only the gateway knows.
 * The body has passed its schema, but aliases, shortcuts and defaults are still as sent: the enricher reads them through
 * the same functions of this package that the gateway validated with, so a replay benefits from later fixes.
 */
export interface RawRecord {
  /** UUIDv7; of an import UUIDv5(site, file digest, line). */
  readonly eventId: string;
  readonly kind: RecordKind;
  readonly siteId: string;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  /**
   * The client's address, sealed (`sealed-address.ts`); empty when unknown. Of a server event the one in its context, where one
   * was sent. Lives in events.raw only.
   */
  readonly sealedIp?: string;
  /** The client's address in plain text: only in records that Weir wrote before it sealed addresses. */
  readonly ip?: string;
  /** The request's `User-Agent`, at most 1,024 chars. */
  readonly userAgent: string;
  /** The request's `Accept-Language`, at most 255 chars; empty when not sent. */
  readonly acceptLanguage: string;
  /** Client Hints that were sent (`Sec-CH-UA*`), by lower-case header name; absent when none. */
  readonly clientHints?: Readonly<Record<string, string>>;
  /** The request's header `Idempotency-Key`; absent when not sent, and in records of before. */
  readonly idempotencyKey?: string;
  /** Of a browser's identify: what its signature proved; absent: nothing. */
  readonly identityProof?: Exclude<IdentityProof, undefined>;
  readonly body: JsonObject;
}

/** No address in plain text can be written. */
export type RawRecordHead = Omit<RawRecord, 'body' | 'ip' | 'sealedIp'> & { readonly sealedIp: string };

/**
 * Bytes of a raw record. `bodyJson` is the request's own text, so that nothing is serialised twice; `withoutClientAddress` has
 * taken addresses out of it where it may hold any.
 */
export function encodeRawRecord(head: RawRecordHead, bodyJson: string): Buffer {
  const envelope = JSON.stringify(head);
  return Buffer.from(`${envelope.slice(0, -1)},"body":${bodyJson}}`);
}

/** Reads what `encodeRawRecord` wrote. Throws `SyntaxError` or `TypeError` on anything else: a dead letter. */
export function decodeRawRecord(bytes: Uint8Array): RawRecord {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
  const record = JSON.parse(text) as RawRecord;
  if (typeof record?.eventId !== 'string' || typeof record.siteId !== 'string' || typeof record.body !== 'object') {
    throw new TypeError('not a raw record');
  }
  return record;
}

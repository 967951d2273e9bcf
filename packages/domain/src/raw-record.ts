import type { JsonObject } from './json.ts';

/**
 * Which door a record came through. `identify` is POST /api/identify; an identify hit of the browser is a `collect`. `unlink`
 * is the admin API's: `{visitor_id, user_id}`, and takes back what identifies before it said of the two.
 */
export type RecordKind = 'collect' | 'event' | 'identify' | 'import' | 'unlink';

/**
 * A record of `events.raw`: what the gateway accepted, as it was sent, with what only the gateway knows.
 * The body has passed its schema, but aliases, shortcuts and defaults are still as sent: the enricher reads them through
 * the same functions of this package that the gateway validated with, so a replay profits from later mends.
 */
export interface RawRecord {
  /** UUIDv7; of an import UUIDv5(site, file digest, line). */
  readonly eventId: string;
  readonly kind: RecordKind;
  readonly siteId: string;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  /** The client's address as `clientAddress` found it, never IPv4-mapped; empty when unknown. Lives in events.raw only. */
  readonly ip: string;
  /** The request's `User-Agent`, at most 1,024 chars. */
  readonly userAgent: string;
  /** The request's `Accept-Language`, at most 255 chars; empty when not sent. */
  readonly acceptLanguage: string;
  /** Client Hints that were sent (`Sec-CH-UA*`), by lower-case header name; absent when none. */
  readonly clientHints?: Readonly<Record<string, string>>;
  readonly body: JsonObject;
}

export type RawRecordHead = Omit<RawRecord, 'body'>;

/** Bytes of a raw record. `bodyJson` is the request's own text, so that nothing is serialised twice. */
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

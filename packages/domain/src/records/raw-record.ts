import { isJsonObject, type JsonObject, parseJson } from '../json/json.ts';
import type { IdentityProof } from '../people/identity-signature.ts';
import { BODY_KEY, recordText } from './body-text.ts';
import type { Redriven } from './redriven.ts';

/**
 * The endpoint that received a record. `identify` is POST /api/identify; an identify hit of the browser is a `collect`. `unlink` is an
 * endpoint of the admin API with the body `{visitor_id, user_id}`: it removes the link that earlier identify records made between the two.
 * `dumped` is a row of a dump (dump-format.ts), `{dump, row}`: it was enriched before it was exported, and is stored unchanged.
 */
export type RecordKind = 'collect' | 'event' | 'identify' | 'import' | 'unlink' | 'dumped';

/**
 * A record of `events.raw`: a body that the gateway accepted, as it was sent, and its envelope.
 * The body has passed its schema, but its fields can still have their other names (docs/api.md), and defaults are not filled in. The gateway
 * validates the body and the enricher reads it with the same functions of this package. A replay therefore uses later fixes of these functions.
 */
export interface RawRecord {
  /** UUIDv7; for an import UUIDv5(site, file digest, line); for a dumped row, the event ID of that row. */
  readonly eventId: string;
  readonly kind: RecordKind;
  readonly siteId: string;
  /** Unix milliseconds. */
  readonly receivedAt: number;
  /**
   * The encrypted client IP (`sealed-address.ts`); empty if unknown. For a server event, the IP address in its context if one was
   * sent. Only events.raw contains it.
   */
  readonly sealedIp?: string;
  /** The client IP in plain text: only in records of versions of Weir that did not encrypt it. */
  readonly ip?: string;
  /** The request's `User-Agent`, at most 1,024 chars. */
  readonly userAgent: string;
  /** The request's `Accept-Language`, at most 255 chars; empty if it was not sent. */
  readonly acceptLanguage: string;
  /** Client Hints that were sent (`Sec-CH-UA*`), by lower-case header name; absent if there are none. */
  readonly clientHints?: Readonly<Record<string, string>>;
  /** The header `Idempotency-Key` of a request with one server event; absent if it was not sent, in other requests, and in older versions. */
  readonly idempotencyKey?: string;
  /** For a browser's identify, the result of checking its signature (identity-signature.ts). Absent if this result is undefined. */
  readonly identityProof?: Exclude<IdentityProof, undefined>;
  /** Set if the record was appended to process the record of a dead letter again. */
  readonly redriven?: Redriven;
  readonly body: JsonObject;
}

/** The fields of a new record except its body. There is no field for a client IP in plain text. */
export type RawRecordHead = Omit<RawRecord, 'body' | 'ip' | 'sealedIp'> & { readonly sealedIp: string };

/**
 * Encodes a raw record. `bodyJson` is the text of the request, so that the body is not serialised again. A text that can contain a
 * client IP must be passed through `withoutClientAddress` first.
 */
export function encodeRawRecord(head: RawRecordHead, bodyJson: string): Buffer {
  return Buffer.from(`${envelopeText(head)}${BODY_KEY}${bodyJson}}`);
}

/**
 * The JSON text of an envelope, without its last brace. Joining the fields that every record has costs less than `JSON.stringify`
 * (docs/decisions/0049).
 */
function envelopeText(head: RawRecordHead): string {
  const { eventId, kind, siteId, receivedAt, sealedIp, userAgent, acceptLanguage } = head;
  const common = `{"eventId":${quoted(eventId)},"kind":"${kind}","siteId":${quoted(siteId)},"receivedAt":${receivedAt},"sealedIp":${quoted(sealedIp)},"userAgent":${quoted(userAgent)},"acceptLanguage":${quoted(acceptLanguage)}`;
  let fields = 0;
  for (const _ in head) fields += 1;
  return fields === COMMON_FIELDS ? common : common + otherFields(head);
}

/** The number of fields that every envelope has. */
const COMMON_FIELDS = 7;

function otherFields(head: RawRecordHead): string {
  const { eventId, kind, siteId, receivedAt, sealedIp, userAgent, acceptLanguage, ...others } = head;
  const text = JSON.stringify(others);
  return text === '{}' ? '' : `,${text.slice(1, -1)}`;
}

/** Matches a text of ASCII characters that JSON does not escape. */
const NOT_ESCAPED = /^[ !#-[\]-~]*$/;

function quoted(text: string): string {
  return NOT_ESCAPED.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Reads a record that `encodeRawRecord` wrote. Throws `SyntaxError` or `TypeError` for other bytes, which become a dead letter. */
export function decodeRawRecord(bytes: Uint8Array): RawRecord {
  const record = JSON.parse(recordText(bytes)) as RawRecord;
  if (typeof record?.eventId !== 'string' || typeof record.siteId !== 'string' || typeof record.body !== 'object') {
    throw new TypeError('not a raw record');
  }
  return record;
}

/**
 * Returns a raw record (JSON) with an empty `sealedIp` and without `ip`: the archive must not contain addresses of clients. The text of the
 * body is not changed. A value that is not a raw record is returned unchanged, because it has no envelope.
 */
export function withoutSealedAddress(bytes: Uint8Array): Uint8Array {
  const text = recordText(bytes);
  const bodyAt = text.indexOf(BODY_KEY);
  const envelope = bodyAt < 0 ? undefined : parseJson(`${text.slice(0, bodyAt)}}`);
  if (!isJsonObject(envelope)) return bytes;
  const { sealedIp, ip, ...rest } = envelope;
  if (sealedIp === undefined && ip === undefined) return bytes;
  return Buffer.from(`${JSON.stringify({ ...rest, sealedIp: '' }).slice(0, -1)}${text.slice(bodyAt)}`);
}

const SEALED_IP = /("sealedIp":)"[^"]*"?/g;

/** Empties the encrypted client IP in a text that contains a raw record, or a part of one. */
export function hideSealedIp(text: string): string {
  return text.replace(SEALED_IP, '$1""');
}

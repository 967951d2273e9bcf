import { readCollectHit } from '@weir/domain/ingest/collect-hit';
import { FieldError } from '@weir/domain/ingest/field-error';
import { cookielessVisitorId, utcDay } from '@weir/domain/people/cookieless';
import { bodyTextOf } from '@weir/domain/records/body-text';
import { decodeRawRecord, type RawRecord } from '@weir/domain/records/raw-record';
import { redrivenRecord } from '@weir/domain/records/redriven';
import { createOpenAddress, isSealedAddress } from '@weir/domain/records/sealed-address';
import type { AppendRecord } from '@weir/ports/event-log';
import type { ControlDeps } from '../control-deps.ts';
import { readRawRecord } from '../topics/read-raw-record.ts';
import type { StoredLetter } from './stored-letters.ts';

export type LetterRecordDeps = Pick<ControlDeps, 'eventLog' | 'registry' | 'addressSealer' | 'clock' | 'retention'>;

/**
 * Makes the record that redrives a dead letter, or returns why it cannot be made. The new record has the content and the time of receipt of the raw
 * record that became the dead letter. To process a raw record, the enricher needs the salt (docs/glossary.md) of the day of its receipt, and Weir
 * can delete this salt before the new record is processed. So the client IP in the new record is encrypted with the salt of the present day. A
 * cookieless hit also gets its visitor ID here.
 */
export async function letterRecord(
  { eventLog, registry, addressSealer, clock, retention }: LetterRecordDeps,
  { log, partition, offset, attempts }: StoredLetter,
): Promise<AppendRecord | string> {
  if (log !== eventLog.logId) return 'its record is in an earlier log, which no longer exists';
  const raw = await readRawRecord(eventLog, partition, offset);
  if (raw === undefined) {
    return `its record has expired: events.raw keeps records for ${retention.rawRetentionMs / 3_600_000} hours`;
  }
  const record = recordOf(raw);
  if (record === undefined) return 'its bytes are not a raw record, so every attempt would fail';
  const salt = registry.existingSalt(utcDay(record.receivedAt));
  const ip = addressOf(record, salt);
  if (ip === undefined) return 'the key of its client address was deleted, so its location and visitor would be wrong';
  const at = clock();
  const sealedIp = await addressSealer.seal(ip, at);
  if (sealedIp === undefined) return 'the event log could not store the key of the day: try again';
  const day = cookielessDay(record, raw);
  if (day !== undefined && salt === undefined)
    return 'the salt of its visitor was deleted, so its visitor would be wrong';
  const { siteId, userAgent } = record;
  const visitorId =
    day === undefined ? {} : { visitorId: cookielessVisitorId(salt ?? '', { siteId, ip, userAgent, lineDay: day }) };
  const value = redrivenRecord(raw, sealedIp, { log, partition, offset, attempt: attempts + 1, at, ...visitorId });
  return value === undefined ? 'its bytes are not a raw record, so every attempt would fail' : { partition, value };
}

function recordOf(raw: Uint8Array): RawRecord | undefined {
  try {
    const record = decodeRawRecord(raw);
    return Number.isSafeInteger(record.receivedAt) && record.body !== null ? record : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined;
    throw error;
  }
}

/** Returns the client IP of a record. Empty if the record has no client IP; undefined if the client IP cannot be decrypted any more. */
function addressOf({ sealedIp = '', ip = '' }: RawRecord, salt: string | undefined): string | undefined {
  if (typeof sealedIp !== 'string' || !isSealedAddress(sealedIp)) return ip;
  return createOpenAddress()(sealedIp, salt) || undefined;
}

/**
 * Returns undefined for a record that is not a valid cookieless hit: its visitor ID need not be computed. For a cookieless hit, returns the input
 * `lineDay` of `cookielessVisitorId`. If the hit was imported from an access log, this is the UTC day of its line. Otherwise it is an empty text.
 */
function cookielessDay({ kind, body }: RawRecord, raw: Uint8Array): string | undefined {
  if (kind === 'import') return Number.isSafeInteger(body.timestamp) ? utcDay(body.timestamp as number) : undefined;
  if (kind !== 'collect') return undefined;
  const hit = readCollectHit(body, () => bodyTextOf(raw));
  return hit instanceof FieldError || hit.visitorId !== '' || hit.identity !== undefined ? undefined : '';
}

import { recordText } from '@weir/domain/records/body-text';
import type { DeadReason } from '@weir/domain/records/outcome';
import { redrivenOf } from '@weir/domain/records/redriven';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import type { DecodedRecord } from '../pipeline/enriched-event.ts';
import { jsonValue } from './json-text.ts';
import { maskAddresses, maskRaw, withoutAddresses } from './mask-addresses.ts';
import type { BareRow } from './row-encoding.ts';

const NO_EVENT_ID = '00000000-0000-0000-0000-000000000000';
const PAYLOAD_CHARS_MAX = 256 * 1024;
const ERROR_CHARS_MAX = 1000;

/** Builds the row of a dead letter. The row contains the error, and the record without IP addresses. */
export function deadLetterRow(record: DecodedRecord, reason: DeadReason, error: string): BareRow {
  const payload = record.readable ? withoutAddresses(record.raw, record.ip) : maskRaw(recordText(record.raw));
  const detail = {
    topic: TOPIC_RAW,
    partition: record.partition,
    offset: record.offset,
    stage: 'enricher',
    error: maskAddresses(error).slice(0, ERROR_CHARS_MAX),
    payload: payload.slice(0, PAYLOAD_CHARS_MAX),
  };
  return {
    outcome: 'dead',
    reason,
    ruleId: '',
    siteId: record.readable ? record.siteId : '',
    eventId: record.readable ? record.eventId : NO_EVENT_ID,
    source: '',
    type: '',
    receivedAt: record.receivedAt,
    visitorId: '',
    userId: '',
    partition: record.partition,
    offset: record.offset,
    detail: jsonValue(detail),
    redriven: redrivenOf(record.raw),
  };
}

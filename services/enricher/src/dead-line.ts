import type { DeadReason } from '@weir/domain/outcome';
import { TOPIC_RAW } from '@weir/domain/topics';
import type { Draft } from './hit.ts';
import { jsonValue } from './json-text.ts';
import { maskAddresses, withoutAddresses } from './mask-addresses.ts';
import type { BareLine } from './to-line.ts';

const NO_EVENT_ID = '00000000-0000-0000-0000-000000000000';
const PAYLOAD_CHARS_MAX = 256 * 1024;
const ERROR_CHARS_MAX = 1000;

/** The dead letter of a record: what it was, without any address, and why it could not be processed. */
export function deadLine(draft: Draft, reason: DeadReason, error: string): BareLine {
  const payload = draft.readable
    ? withoutAddresses(draft.raw)
    : maskAddresses(Buffer.from(draft.raw.buffer, draft.raw.byteOffset, draft.raw.byteLength).toString());
  const detail = {
    topic: TOPIC_RAW,
    partition: draft.partition,
    offset: draft.offset,
    stage: 'enricher',
    error: maskAddresses(error).slice(0, ERROR_CHARS_MAX),
    payload: payload.slice(0, PAYLOAD_CHARS_MAX),
  };
  return {
    outcome: 'dead',
    reason,
    ruleId: '',
    siteId: draft.readable ? draft.siteId : '',
    eventId: draft.readable ? draft.eventId : NO_EVENT_ID,
    source: '',
    type: '',
    receivedAt: draft.receivedAt,
    visitorId: '',
    userId: '',
    partition: draft.partition,
    offset: draft.offset,
    detail: jsonValue(detail),
  };
}

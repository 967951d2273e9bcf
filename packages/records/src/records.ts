export { decodeEnriched, type RecordHeaders } from './decode-enriched.ts';
export { decodeRaw, type RawEvent, type RawKind } from './decode-raw.ts';
export type { EnrichedEvent } from './enriched-columns.ts';
export { RecordError, type RecordErrorCode } from './record-error.ts';

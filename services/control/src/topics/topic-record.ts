import { isDeeper } from '@weir/domain/json/nesting';
import type { StoredRecord } from '@weir/ports/event-log';
import { RecordError } from '@weir/records';
import { formatTime } from '../format-time.ts';
import type { LogTopic } from './shown-topics.ts';

export interface TopicRecord {
  readonly partition: number;
  /**
   * `offset` and `appended_at` are null for a row of the registry: Weir's processes keep its current rows without their offsets. For a viewer (who
   * may only read one site), `offset` is null, because it counts the records of all sites.
   */
  readonly offset: number | null;
  readonly appended_at: string | null;
  readonly bytes: number;
  readonly site_id: string | null;
  /** The record without client addresses and secrets. Null if the record cannot be shown. `problem` then has the reason. */
  readonly record: object | null;
  readonly problem: string | null;
}

/** The maximum depth of a shown record. A body can have fields that Weir ignores, so the schemas do not limit its depth. */
const RECORD_LEVELS_MAX = 64;

/** Decodes a record. If it cannot be decoded, nothing of it is shown, because it may contain an address. */
export function topicRecord(topic: LogTopic, partition: number, stored: StoredRecord): TopicRecord {
  const { offset, appendedAt, headers, value } = stored;
  const head = { partition, offset, appended_at: formatTime(appendedAt), bytes: value.byteLength };
  try {
    const record = topic.decode(headers, value);
    const site_id = topic.siteOf(record);
    if (!isDeeper(record, RECORD_LEVELS_MAX)) return { ...head, site_id, record, problem: null };
    const problem = `the record is nested deeper than ${RECORD_LEVELS_MAX} levels`;
    return { ...head, site_id, record: null, problem };
  } catch (error) {
    if (!(error instanceof RecordError)) throw error;
    return { ...head, site_id: null, record: null, problem: error.message };
  }
}

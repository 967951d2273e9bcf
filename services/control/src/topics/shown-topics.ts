import {
  GROUP_ENRICHER,
  GROUP_WRITER,
  TABLE_REGISTRY,
  TABLE_SALTS,
  TOPIC_ENRICHED,
  TOPIC_RAW,
} from '@weir/domain/records/topics';
import { decodeEnriched, decodeRaw, type RecordHeaders } from '@weir/records';
import type { TopicRetention } from '../control-deps.ts';

const HOUR_MS = 3_600_000;

/** A topic whose records stay in the log until retention removes them. */
export interface LogTopic {
  readonly kind: 'log';
  readonly name: string;
  /**
   * The consumer group for `EventLog.positions`. The routes for topics use only the first and end offsets of the result. They join no group and
   * commit nothing.
   */
  readonly group: string;
  readonly retentionHours: (retention: TopicRetention) => number;
  readonly decode: (headers: RecordHeaders, value: Uint8Array) => object;
  readonly siteOf: (record: object) => string;
}

/** A compacted topic: only the current row of each key counts. */
interface TableTopic {
  readonly kind: 'table';
  readonly name: string;
}

/**
 * The topics in the table of docs/topics.md. On Kafka, their real names can have a prefix (`KAFKA_TOPIC_PREFIX`), which is not part of these
 * names.
 */
export const TOPICS: readonly (LogTopic | TableTopic)[] = [
  {
    kind: 'log',
    name: TOPIC_RAW,
    group: GROUP_ENRICHER,
    retentionHours: ({ rawRetentionMs }) => rawRetentionMs / HOUR_MS,
    decode: (_headers, value) => decodeRaw(value),
    siteOf: (record) => (record as ReturnType<typeof decodeRaw>).siteId,
  },
  {
    kind: 'log',
    name: TOPIC_ENRICHED,
    group: GROUP_WRITER,
    retentionHours: ({ enrichedRetentionMs }) => enrichedRetentionMs / HOUR_MS,
    decode: decodeEnriched,
    siteOf: (record) => (record as ReturnType<typeof decodeEnriched>).site_id,
  },
  { kind: 'table', name: TABLE_REGISTRY },
  { kind: 'table', name: TABLE_SALTS },
];

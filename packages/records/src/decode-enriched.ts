import { isJsonObject } from '../../domain/src/json/json.ts';
import { HEADER_COLUMNS_VERSION } from '../../domain/src/records/records-columns.ts';
import { TOPIC_ENRICHED as TOPIC } from '../../domain/src/records/topics.ts';
import { type ColumnType, ENRICHED_COLUMNS, type EnrichedEvent } from './enriched-columns.ts';
import { parseValue, RecordError } from './record-error.ts';

/** The columns and their types, by version of the column list. The header `v` of a record contains the version. */
const COLUMNS = new Map(Object.entries(ENRICHED_COLUMNS).map(([version, types]) => [version, Object.entries(types)]));

/** The headers of a record, in each of the forms that Kafka clients use. */
export type RecordHeaders = Readonly<
  Record<string, string | Uint8Array | readonly (string | Uint8Array)[] | undefined>
>;

/**
 * Decodes a record of `events.enriched`, or throws a `RecordError`. The log can contain a record twice: the caller must skip a
 * record whose `raw_offset` is not higher than the highest so far of its `log_id` and `raw_partition`.
 */
export function decodeEnriched(headers: RecordHeaders, value: Uint8Array | null): EnrichedEvent {
  const columns = columnsOf(headers[HEADER_COLUMNS_VERSION]);
  const line = parseValue(TOPIC, value);
  if (!Array.isArray(line) || line.length !== columns.length) {
    throw new RecordError('damaged', `${TOPIC}: the value is not an array of ${columns.length} columns`);
  }
  columns.forEach(([name, type], index) => {
    if (!IS[type](line[index])) throw new RecordError('damaged', `${TOPIC}: column ${name} is not of the type ${type}`);
  });
  return Object.fromEntries(columns.map(([name], index) => [name, line[index] as unknown])) as EnrichedEvent;
}

function columnsOf(header: RecordHeaders[string]): readonly (readonly [name: string, type: ColumnType])[] {
  const text = header instanceof Uint8Array ? String.fromCharCode(...header.subarray(0, 10)) : header;
  if (typeof text !== 'string' || !/^[1-9]\d{0,8}$/.test(text)) {
    throw new RecordError('damaged', `${TOPIC}: the header ${HEADER_COLUMNS_VERSION} is not the number of a version`);
  }
  const columns = COLUMNS.get(text);
  if (columns === undefined) {
    throw new RecordError(
      'unknown_version',
      `${TOPIC}: this version of @weir/records has no column list ${text}: install a newer version`,
    );
  }
  return columns;
}

const IS: Readonly<Record<ColumnType, (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string',
  whole: (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0,
  integer: (value) => typeof value === 'number' && Number.isInteger(value),
  'number or null': (value) => value === null || typeof value === 'number',
  boolean: (value) => typeof value === 'boolean',
  object: isJsonObject,
};

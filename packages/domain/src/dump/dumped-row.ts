import { isTime } from '../ingest/timestamp.ts';
import { type Json, parseJson } from '../json/json.ts';
import type { Outcome } from '../records/outcome.ts';
import type { RecordsColumn } from '../records/records-columns.ts';
import { isUuid } from '../records/uuid.ts';
import { DUMP_COLUMNS, DUMP_LINE_CHARS_MAX, DUMP_OUTCOMES, DUMP_ROW_LENGTHS } from './dump-format.ts';

/** A row of a dump, after validation: its values by column. */
export interface DumpedRow {
  readonly values: Readonly<Record<string, Json>>;
  readonly outcome: Exclude<Outcome, 'dead'>;
  readonly eventId: string;
  /** Unix milliseconds. */
  readonly timestamp: number;
  readonly receivedAt: number;
  readonly visitorId: string;
  readonly userId: string;
}

type Rule = (value: Json) => boolean;

const WHOLE_MAX = 2 ** 32;
/** The beginning of the column `detail` of an identify. */
export const PROFILE_DETAIL = /^\{"profile_id":"[0-9a-f-]{36}"/;

const isText: Rule = (value) => typeof value === 'string';
const isWhole: Rule = (value) => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < WHOLE_MAX;
const isOneOf = (...texts: readonly string[]): Rule => {
  return (value) => texts.includes(value as string);
};

/** The rules for the values of columns. A column without a rule here must be a text. */
const RULES: Readonly<Partial<Record<RecordsColumn, Rule>>> = {
  outcome: isOneOf(...DUMP_OUTCOMES),
  event_id: (value) => typeof value === 'string' && isUuid(value),
  source: isOneOf('collect', 'server', 'import'),
  type: isOneOf('pageview', 'event', 'identify', 'unlink'),
  timestamp: isTime,
  received_at: isTime,
  cookieless: (value) => typeof value === 'boolean',
  value: (value) => value === null || Number.isFinite(value),
  properties: (value) => isObjectText(value),
  screen_width: isWhole,
  screen_height: isWhole,
  detail: (value) => value === '' || isObjectText(value),
};

const COLUMN_RULES = DUMP_COLUMNS.map((column) => ({ column, holds: RULES[column] ?? isText }));

/**
 * Checks and reads a line of a dump. Columns that an older version of dumps does not have are empty. If the line is invalid, the result
 * is a text with the reason.
 */
export function readDumpedRow(line: Json | undefined): DumpedRow | string {
  if (!Array.isArray(line)) return 'must be a list of values';
  if (!DUMP_ROW_LENGTHS.includes(line.length)) return `must have ${DUMP_ROW_LENGTHS.join(' or ')} values`;
  const values: Record<string, Json> = {};
  let chars = 0;
  for (const [index, { column, holds }] of COLUMN_RULES.entries()) {
    const value = index < line.length ? (line[index] as Json) : '';
    if (!holds(value)) return `${column} is invalid`;
    if (typeof value === 'string') chars += value.length;
    values[column] = value;
  }
  if (chars > DUMP_LINE_CHARS_MAX) return `must have at most ${DUMP_LINE_CHARS_MAX} chars`;
  const text = (column: RecordsColumn): string => values[column] as string;
  const isIdentify = values.outcome === 'identify';
  if (isIdentify && !(PROFILE_DETAIL.test(text('detail')) && userOf(text('detail')) === values.user_id)) {
    return 'detail is invalid';
  }
  return {
    values,
    outcome: values.outcome as DumpedRow['outcome'],
    eventId: text('event_id'),
    timestamp: values.timestamp as number,
    receivedAt: values.received_at as number,
    visitorId: text('visitor_id'),
    userId: text('user_id'),
  };
}

function isObjectText(value: Json): boolean {
  // A line break is refused, because each row must be one line in the log.
  if (typeof value !== 'string' || !value.startsWith('{') || value.includes('\n')) return false;
  return parseJson(value) !== undefined;
}

function userOf(detail: string): unknown {
  const { user_id: userId } = JSON.parse(detail) as { user_id?: unknown };
  return userId === '' ? undefined : userId;
}

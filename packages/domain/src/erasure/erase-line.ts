import { textOf } from '../ingest/context.ts';
import { fits64Bits, markLongIntegers } from '../json/exact-numbers.ts';
import type { Json } from '../json/json.ts';
import { recordText } from '../records/body-text.ts';
import type { Outcome } from '../records/outcome.ts';
import { RECORDS_COLUMNS_BY_VERSION } from '../records/records-columns.ts';
import { createErasures } from './erases.ts';
import { letterTexts } from './letter-texts.ts';
import type { Tombstone } from './tombstone.ts';

type Fields = ReadonlyMap<string, unknown>;

type Properties = Readonly<Record<string, unknown>>;

/**
 * The payment customer that an event names in its properties. Empty if it names none. `text` returns JSON in which a long number still has all
 * digits, and `propertiesIn` the properties in this JSON: ClickHouse compares all digits, but JSON.parse has rounded them.
 */
export function customerIdOf(
  properties: Properties | undefined,
  text: () => string,
  propertiesIn: (json: Json) => unknown,
): string {
  const id = properties?.payment_customer_id;
  if (typeof id === 'string') return id;
  if (typeof id !== 'number') return '';
  const marked = Number.isSafeInteger(id) ? undefined : markLongIntegers(text(), fits64Bits);
  if (marked === undefined) return String(id);
  const exact = (propertiesIn(JSON.parse(marked.text) as Json) as Properties).payment_customer_id;
  return typeof exact === 'string' ? exact.slice(marked.mark.length) : String(id);
}

/**
 * Returns a function for replays and for erasures of the archive. It receives the line (JSONCompactEachRow) of an enriched record, and
 * returns a line with the outcome `erased` if a tombstone (docs/glossary.md) covers the record. It returns a line with the outcome `expired`
 * if the event is older than `expiresBefore` (Unix milliseconds; undefined if events of the site never expire). Otherwise it returns the
 * same line. Parsing the line costs time, so call the function only if there are tombstones or if events of some sites expire.
 */
export function createLineEraser(
  tombstonesOf: (siteId: string) => readonly Tombstone[],
  expiresBefore: (siteId: string) => number | undefined = () => undefined,
) {
  const erasures = createErasures(tombstonesOf);
  return (line: Uint8Array, columnsVersion: number): Uint8Array => {
    const fields = readLine(line, columnsVersion);
    const isErased = fields.get('outcome') === 'dead' ? isErasedLetter(fields) : isErasedRecord(fields, line);
    if (isErased) return bareLine(fields, 'erased', 'forgotten', Number(fields.get('received_at')));
    const happenedAt = Math.min(Number(fields.get('timestamp')), Number(fields.get('received_at')));
    const before = expiresBefore(textOf(fields.get('site_id')));
    const isExpired = before !== undefined && happenedAt < before && EVENT_OUTCOMES.has(textOf(fields.get('outcome')));
    return isExpired ? bareLine(fields, 'expired', 'events', happenedAt) : line;
  };

  function isErasedRecord(fields: Fields, line: Uint8Array): boolean {
    const siteId = textOf(fields.get('site_id'));
    const properties = fields.get('properties') as Properties;
    const propertiesIn = (values: Json): unknown =>
      (values as readonly Json[])[[...fields.keys()].indexOf('properties')];
    const isRow = fields.get('outcome') === 'row';
    return (
      erasures(siteId)?.record({
        siteId,
        receivedAt: Number(fields.get('received_at')),
        timestamp: Number(fields.get('timestamp')),
        visitorId: textOf(fields.get('visitor_id')),
        userId: textOf(fields.get('user_id')),
        customerId: isRow ? customerIdOf(properties, () => recordText(line), propertiesIn) : '',
      }) ?? false
    );
  }

  /**
   * Whether a dead letter contains an erased ID. All strings of its payload are searched, because an unreadable record has no
   * columns for IDs.
   */
  function isErasedLetter(fields: Fields): boolean {
    const { payload } = JSON.parse(textOf(fields.get('detail'))) as { readonly payload?: unknown };
    const texts = letterTexts(typeof payload === 'string' ? payload : JSON.stringify(payload ?? ''));
    return texts.some((text) => erasures(text)?.letter(texts, Number(fields.get('received_at'))));
  }
}

/** Returns the line with the outcome `erased` that replaces the line of an enriched record. */
export function erasedLine(line: Uint8Array, columnsVersion: number): Uint8Array {
  const fields = readLine(line, columnsVersion);
  return bareLine(fields, 'erased', 'forgotten', Number(fields.get('received_at')));
}

const KEPT = new Set(['site_id', 'received_at', 'enrichment', 'log_id', 'raw_partition', 'raw_offset']);

const EVENT_OUTCOMES = new Set(['row', 'duplicate', 'dropped', 'dead']);

/**
 * The line that replaces an erased or expired record. It keeps the position in the log, the site, the time of receipt and the version
 * of the enrichment. `timestamp` replaces the time of the event.
 */
function bareLine(fields: Fields, outcome: Outcome, reason: string, timestamp: number): Uint8Array {
  const values = [...fields].map(([column, value]) => {
    if (column === 'outcome') return outcome;
    if (column === 'reason') return reason;
    if (column === 'timestamp') return timestamp;
    if (column === 'value') return null;
    return KEPT.has(column) ? value : emptyOf(value);
  });
  return Buffer.from(`${JSON.stringify(values)}\n`);
}

function readLine(line: Uint8Array, columnsVersion: number): Fields {
  const columns = RECORDS_COLUMNS_BY_VERSION[columnsVersion];
  if (columns === undefined) throw new Error(`version ${columnsVersion} of the columns is not known`);
  const values = JSON.parse(recordText(line)) as unknown[];
  return new Map(columns.map((column, i) => [column, values[i]]));
}

function emptyOf(value: unknown): unknown {
  if (typeof value === 'string') return '';
  if (typeof value === 'number') return 0;
  return typeof value === 'boolean' ? false : {};
}

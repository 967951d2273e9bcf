import { RECORDS_COLUMNS_BY_VERSION } from '../records/records-columns.ts';
import { createErasures } from './erases.ts';
import { letterTexts } from './letter-texts.ts';
import type { Tombstone } from './tombstone.ts';

type Fields = ReadonlyMap<string, unknown>;

/** The payment customer that an event names in its properties. */
export function customerIdOf(properties: Readonly<Record<string, unknown>> | undefined): string {
  const id = properties?.payment_customer_id;
  return typeof id === 'string' || typeof id === 'number' ? String(id) : '';
}

/**
 * For a replay from `events.enriched`: returns the line (JSONCompactEachRow) of an enriched record as it is, or, of an erased
 * record, the line with the outcome `erased`. It parses the line, so call it only if there is a tombstone.
 */
export function createLineEraser(tombstonesOf: (siteId: string) => readonly Tombstone[]) {
  const erasures = createErasures(tombstonesOf);
  return (line: Uint8Array, columnsVersion: number): Uint8Array => {
    const fields = readLine(line, columnsVersion);
    const isErased = fields.get('outcome') === 'dead' ? isErasedLetter(fields) : isErasedRecord(fields);
    return isErased ? erasedLine(fields) : line;
  };

  function isErasedRecord(fields: Fields): boolean {
    const siteId = textOf(fields.get('site_id'));
    const properties = fields.get('properties') as Readonly<Record<string, unknown>>;
    const isRow = fields.get('outcome') === 'row';
    return (
      erasures(siteId)?.record({
        siteId,
        receivedAt: Number(fields.get('received_at')),
        timestamp: Number(fields.get('timestamp')),
        visitorId: textOf(fields.get('visitor_id')),
        userId: textOf(fields.get('user_id')),
        customerId: isRow ? customerIdOf(properties) : '',
      }) ?? false
    );
  }

  /** A record that could not be read has no site. */
  function isErasedLetter(fields: Fields): boolean {
    const { payload } = JSON.parse(textOf(fields.get('detail'))) as { readonly payload?: unknown };
    const texts = letterTexts(typeof payload === 'string' ? payload : JSON.stringify(payload ?? ''));
    return texts.some((text) => erasures(text)?.letter(texts, Number(fields.get('received_at'))));
  }
}

const KEPT = new Set(['site_id', 'received_at', 'enrichment', 'log_id', 'raw_partition', 'raw_offset']);

/** The row of an erased record. It keeps the position in the log, the site, the time of receipt and the version of the enrichment. */
function erasedLine(fields: Fields): Uint8Array {
  const values = [...fields].map(([column, value]) => {
    if (column === 'outcome') return 'erased';
    if (column === 'reason') return 'forgotten';
    if (column === 'timestamp') return fields.get('received_at');
    if (column === 'value') return null;
    return KEPT.has(column) ? value : emptyOf(value);
  });
  return Buffer.from(`${JSON.stringify(values)}\n`);
}

function readLine(line: Uint8Array, columnsVersion: number): Fields {
  const columns = RECORDS_COLUMNS_BY_VERSION[columnsVersion];
  if (columns === undefined) throw new Error(`version ${columnsVersion} of the columns is not known`);
  const values = JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString()) as unknown[];
  return new Map(columns.map((column, i) => [column, values[i]]));
}

function emptyOf(value: unknown): unknown {
  if (typeof value === 'string') return '';
  if (typeof value === 'number') return 0;
  return typeof value === 'boolean' ? false : {};
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

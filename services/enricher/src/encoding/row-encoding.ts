import type { DropReason, IdentifyReason, Outcome } from '@weir/domain/records/outcome';
import { RECORDS_COLUMNS, type RecordsColumn } from '@weir/domain/records/records-columns';
import type { Redriven } from '@weir/domain/records/redriven';
import type { StoredEvent } from '../pipeline/enriched-event.ts';

/**
 * An entry of the column table (row-columns.ts): one column, or several adjacent columns. The functions return the JSON values
 * of the columns, separated by commas. A value that many events share is encoded once and cached: encoding all values again for
 * each record would cost more than all other steps of the enricher together.
 */
export interface RowColumns {
  readonly columns: readonly RecordsColumn[];
  /** Encodes the columns for an event that becomes a row of `events`. */
  readonly ofEvent: (event: StoredEvent) => string;
  /** Encodes the columns for every other outcome, for example a duplicate or a dead letter. */
  readonly ofBare: (row: BareRow) => string;
}

/** An outcome that is not a row of `events`. A column without a field here has no value, except `timestamp`, `log_id` and `enrichment`. */
export interface BareRow {
  readonly outcome: Exclude<Outcome, 'row'>;
  readonly reason: string;
  readonly ruleId: string;
  readonly siteId: string;
  readonly eventId: string;
  readonly source: string;
  readonly type: string;
  readonly receivedAt: number;
  readonly visitorId: string;
  readonly userId: string;
  readonly partition: number;
  readonly offset: number;
  readonly detail: string;
  readonly redriven?: Redriven | undefined;
}

/** Encodes rows of `records` as JSONCompactEachRow. Each row ends with a line feed. */
export interface RowEncoder {
  event(event: StoredEvent): string;
  bare(row: BareRow): string;
}

/** Creates the encoder from the column table. Throws if the table does not hold exactly RECORDS_COLUMNS, in their order. */
export function createRowEncoder(table: readonly RowColumns[]): RowEncoder {
  assertColumnOrder(table);
  const ofEvent = table.map((entry) => entry.ofEvent);
  const ofBare = table.map((entry) => entry.ofBare);
  return {
    event: (event) => encode(ofEvent, event),
    bare: (row) => encode(ofBare, row),
  };
}

function encode<From>(encoders: readonly ((from: From) => string)[], from: From): string {
  let separator = '[';
  let json = '';
  for (const encoder of encoders) {
    json += separator + encoder(from);
    separator = ',';
  }
  return `${json}]\n`;
}

function assertColumnOrder(table: readonly RowColumns[]): void {
  const columns = table.flatMap((entry) => entry.columns);
  const length = Math.max(columns.length, RECORDS_COLUMNS.length);
  for (let i = 0; i < length; i++) {
    if (columns[i] === RECORDS_COLUMNS[i]) continue;
    throw new Error(`column ${i} of the row table is ${columns[i]}; records-columns.ts has ${RECORDS_COLUMNS[i]}`);
  }
}

/** The value of the column `source`. */
export function sourceOf({ kind }: StoredEvent): 'collect' | 'server' | 'import' {
  if (kind === 'dumped') return 'import';
  return kind === 'collect' || kind === 'import' ? kind : 'server';
}

/** Builds the row of a record whose outcome is not a row of `events`. Only an identify or unlink keeps the visitor and the user. */
export function bareRow(
  event: StoredEvent,
  outcome: 'duplicate' | 'dropped' | 'identify',
  { reason, ruleId = '', detail = '' }: BareRowReason = {},
): BareRow {
  const isIdentify = outcome === 'identify';
  return {
    outcome,
    reason: reason ?? '',
    ruleId,
    siteId: event.siteId,
    eventId: event.eventId,
    source: sourceOf(event),
    type: event.type,
    receivedAt: event.receivedAt,
    visitorId: isIdentify ? event.visitorId : '',
    userId: isIdentify ? event.userId : '',
    partition: event.partition,
    offset: event.offset,
    detail,
    redriven: event.redriven,
  };
}

/**
 * Builds the row of an erased record. The row keeps only the position in the log, the site, the time of receipt and `redriven` (set if the record is
 * a dead letter that was processed again).
 */
export function erasedRow({
  siteId,
  receivedAt,
  partition,
  offset,
  redriven,
}: Pick<BareRow, 'siteId' | 'receivedAt' | 'partition' | 'offset' | 'redriven'>): BareRow {
  const nothing = { ruleId: '', eventId: '', source: '', type: '', visitorId: '', userId: '', detail: '' };
  return { ...nothing, outcome: 'erased', reason: 'forgotten', siteId, receivedAt, partition, offset, redriven };
}

interface BareRowReason {
  readonly reason?: DropReason | IdentifyReason;
  readonly ruleId?: string;
  readonly detail?: string;
}

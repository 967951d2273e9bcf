import { HEADER_RAW_OFFSET } from '@weir/domain/records/records-columns';
import { GROUP_ENRICHER, TOPIC_ENRICHED } from '@weir/domain/records/topics';
import type { EventLog, StoredRecord } from '@weir/ports/event-log';

/**
 * Maps a raw offset to whether its outcome in the log is `duplicate`. Offsets whose outcome was removed by retention are
 * missing.
 */
export type Decided = ReadonlyMap<number, boolean>;

/**
 * The outcomes of one raw partition that `events.enriched` already has. They show which record was the first one with its
 * idempotency key.
 */
export interface DecidedOutcomes {
  /** One past the highest raw offset that has an outcome. It can be higher than the committed offset. */
  readonly to: number;
  /**
   * The outcomes of the raw offsets from `from` (inclusive) to `to` (exclusive). Reading consecutive ranges reads the log only
   * once.
   */
  read(from: number, to: number): Promise<Decided>;
}

const READ_BYTES_MAX = 1024 * 1024;
/** One record is enough to find the raw offset at a position of the log. The log returns at least one record for any limit. */
const PROBE_BYTES_MAX = 1;
const STEP_RECORDS_MIN = 1_024;
/** The beginning of a row (JSONCompactEachRow) whose first column, `outcome`, is `duplicate`. */
const DUPLICATE = Buffer.from('["duplicate"');

/** `committed`: all raw offsets below this one have an outcome. Rejects with `event_log_unavailable`. */
export async function readDecidedOutcomes(
  eventLog: EventLog,
  partition: number,
  committed: number,
): Promise<DecidedOutcomes> {
  const positions = await eventLog.positions(TOPIC_ENRICHED, GROUP_ENRICHER, [partition]);
  const { first, end } = positions[0] ?? { first: 0, end: 0 };
  let position = end;
  /** Records that were read ahead. `ahead[nth]` is the record at `position`. */
  let ahead: readonly StoredRecord[] = [];
  let nth = 0;
  let last: { readonly from: number; readonly to: number; readonly found: Map<number, boolean> } | undefined;

  /** Moves to a position at or before the first outcome of `raw`, or to the start of the log. */
  async function goBefore(raw: number): Promise<void> {
    ahead = [];
    nth = 0;
    last = undefined;
    position = first;
    for (let step = STEP_RECORDS_MIN; end - step > first; step *= 2) {
      const [found] = await eventLog.read(TOPIC_ENRICHED, partition, end - step, PROBE_BYTES_MAX);
      if (found === undefined || rawOffsetOf(found) > raw) continue;
      position = end - step;
      return;
    }
  }

  /** Returns the record at `position` without moving on; `undefined` at the end. */
  async function peek(): Promise<StoredRecord | undefined> {
    if (nth === ahead.length && position < end) {
      ahead = await eventLog.read(TOPIC_ENRICHED, partition, position, READ_BYTES_MAX);
      nth = 0;
    }
    const next = ahead[nth];
    return next === undefined || next.offset >= end ? undefined : next;
  }

  function skip({ offset }: StoredRecord): void {
    nth += 1;
    position = offset + 1;
  }

  await goBefore(committed);
  let to = committed;
  for (let record = await peek(); record !== undefined; record = await peek()) {
    if (rawOffsetOf(record) === to) to += 1;
    skip(record);
  }

  return {
    to,
    async read(from, until) {
      if (last !== undefined && from >= last.from && until <= last.to) return last.found;
      if (last === undefined || from < last.to) await goBefore(from);
      const found = new Map<number, boolean>();
      for (let record = await peek(); record !== undefined; record = await peek()) {
        const raw = rawOffsetOf(record);
        if (raw >= until) break;
        // The writer stores the first outcome of a raw offset and skips the later ones.
        if (raw >= from && !found.has(raw)) found.set(raw, isDuplicate(record.value));
        skip(record);
      }
      last = { from, to: until, found };
      return found;
    },
  };
}

function rawOffsetOf({ headers }: StoredRecord): number {
  return Number(headers[HEADER_RAW_OFFSET] ?? Number.NaN);
}

function isDuplicate(line: Uint8Array): boolean {
  return DUPLICATE.compare(line, 0, Math.min(DUPLICATE.length, line.length)) === 0;
}

import { DependencyError } from '@weir/domain/errors';
import { rawOffsetOf } from '@weir/domain/records/records-columns';
import { GROUP_ENRICHER, TOPIC_ENRICHED } from '@weir/domain/records/topics';
import type { EventLog, PartitionPosition, StoredRecord } from '@weir/ports/event-log';

/**
 * The key is a raw offset (an offset in `events.raw`). The value is true if the outcome in `events.enriched` is `duplicate`. If the log does not
 * have the outcome of an offset, for example because retention has removed it, the map has no entry for this offset.
 */
export type Decided = ReadonlyMap<number, boolean>;

/**
 * The outcomes that `events.enriched` already has for one partition of `events.raw`. They say which record was the first one with its idempotency
 * key.
 */
export interface DecidedOutcomes {
  /** One past the highest raw offset that has an outcome. It can be higher than the committed offset. */
  readonly to: number;
  /**
   * Returns the outcomes of the raw offsets from `from` (inclusive) to `to` (exclusive), and possibly of more offsets. If each call begins where the
   * previous one ended, the log is read only once.
   */
  read(from: number, to: number): Promise<Decided>;
}

const READ_BYTES_MAX = 1024 * 1024;
/** The log returns at least one record for any limit of bytes, and one record is enough to find the raw offset at a position. */
const PROBE_BYTES_MAX = 1;
const STEP_RECORDS_MIN = 1_024;
/**
 * An upper limit for the outcomes that are appended late: after a rebalance, the former owner of the partition can append the outcomes of one batch
 * after outcomes of the new owner. No batch has more outcomes than this.
 */
const LATE_RECORDS_MAX = 4_096;
/** The beginning of a row (JSONCompactEachRow) whose first column, `outcome`, is `duplicate`. */
const DUPLICATE = Buffer.from('["duplicate"');

/** Reads the outcomes of one raw partition from `events.enriched`, in order. */
interface OutcomeReader extends Pick<DecidedOutcomes, 'read'> {
  /** Moves to a position at or before the first outcome of the raw offset `raw`, or to the start of the log. */
  goBefore(raw: number): Promise<void>;
  /** Returns the record at the position without moving on; `undefined` at the end. */
  peek(): Promise<StoredRecord | undefined>;
  skip(record: StoredRecord): void;
}

/** `endOf` returns the offsets at which the log begins and ends for this reader. */
function createOutcomeReader(
  eventLog: EventLog,
  partition: number,
  endOf: () => Promise<{ readonly first: number; readonly end: number }>,
): OutcomeReader {
  let position = 0;
  /** Records that were read ahead. `ahead[nth]` is the record at `position`. */
  let ahead: readonly StoredRecord[] = [];
  let nth = 0;
  let last: { readonly from: number; readonly to: number; readonly found: Map<number, boolean> } | undefined;

  const reader: OutcomeReader = {
    async goBefore(raw) {
      const { first, end } = await endOf();
      ahead = [];
      nth = 0;
      last = undefined;
      position = first;
      /**
       * The smallest `step` in the current series of probes that all found a raw offset of at most `raw`. Undefined if the last probe did not find
       * such an offset.
       */
      let lowSince: number | undefined;
      for (let step = STEP_RECORDS_MIN; end - step > first; step *= 2) {
        const [found] = await eventLog.read(TOPIC_ENRICHED, partition, end - step, PROBE_BYTES_MAX);
        // In a replay (docs/glossary.md), the record can come from an earlier replay. Then its raw offset is NaN, so this probe does not help.
        if (found === undefined || !(rawOffsetOf(found) <= raw)) {
          lowSince = undefined;
          continue;
        }
        lowSince ??= step;
        // One probe that finds at most `raw` does not suffice. It can find an outcome that a former owner appended late, for the second time. The
        // first outcome of `raw` is then before it.
        if (step - lowSince < LATE_RECORDS_MAX) continue;
        position = end - step;
        return;
      }
    },
    async peek() {
      if (nth === ahead.length) {
        const { end } = await endOf();
        const read = position < end ? await eventLog.read(TOPIC_ENRICHED, partition, position, READ_BYTES_MAX) : [];
        ahead = read.filter(({ offset }) => offset < end);
        nth = 0;
      }
      return ahead[nth];
    },
    skip({ offset }) {
      nth += 1;
      position = offset + 1;
    },
    async read(from, until) {
      if (last !== undefined && from >= last.from && until <= last.to) return last.found;
      if (last === undefined || from < last.to) await reader.goBefore(from);
      const found = new Map<number, boolean>();
      while (found.size < until - from) {
        const record = await reader.peek();
        if (record === undefined) break;
        const raw = rawOffsetOf(record);
        if (raw >= until) break;
        // The writer stores the first outcome of a raw offset and skips the later ones.
        if (raw >= from && !found.has(raw)) found.set(raw, isDuplicate(record.value));
        reader.skip(record);
      }
      last = { from, to: until, found };
      return found;
    },
  };
  return reader;
}

/**
 * Finds up to which raw offset the log has outcomes, and returns a reader for them. All raw offsets below `committed` must have an
 * outcome. Rejects with `event_log_unavailable` if the log cannot be read. Also rejects with it while the log has outcomes that consumers cannot read
 * yet: a former owner of the partition can have appended them.
 */
export async function readDecidedOutcomes(
  eventLog: EventLog,
  partition: number,
  committed: number,
): Promise<DecidedOutcomes> {
  const edges = await readEdges(eventLog, partition);
  if (edges.written !== undefined) {
    const message = `consumers cannot read all outcomes of ${TOPIC_ENRICHED}/${partition} yet, because a replica lacks some: check its broker if this lasts`;
    throw new DependencyError('event_log_unavailable', message);
  }
  const reader = createOutcomeReader(eventLog, partition, async () => edges);
  await reader.goBefore(committed);
  let to = committed;
  for (let record = await reader.peek(); record !== undefined; record = await reader.peek()) {
    if (rawOffsetOf(record) === to) to += 1;
    reader.skip(record);
  }
  return { to, read: reader.read };
}

/** Reads the outcomes of one raw partition, including outcomes that are appended later. */
export function followOutcomes(eventLog: EventLog, partition: number): Pick<DecidedOutcomes, 'read'> {
  return createOutcomeReader(eventLog, partition, () => readEdges(eventLog, partition));
}

async function readEdges(
  eventLog: EventLog,
  partition: number,
): Promise<Pick<PartitionPosition, 'first' | 'end' | 'written'>> {
  const [position] = await eventLog.positions(TOPIC_ENRICHED, GROUP_ENRICHER, [partition]);
  return position ?? { first: 0, end: 0 };
}

function isDuplicate(line: Uint8Array): boolean {
  return DUPLICATE.compare(line, 0, Math.min(DUPLICATE.length, line.length)) === 0;
}

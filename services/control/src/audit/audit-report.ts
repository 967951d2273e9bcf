import type { PartitionPosition } from '@weir/ports/event-log';

export interface StoredPartition {
  readonly log_id: string;
  readonly raw_partition: number;
  readonly records: number;
  readonly distinct_offsets: number;
  /**
   * The number of raw offsets (docs/glossary.md) that are stored twice. While an erasure or an expiry runs, the tables have a row `erased` or
   * `expired` for such a raw offset, and also the former row, which will be deleted.
   */
  readonly erasing: number;
  /** The number of records that had expired in the archive before the tables were restored from it. Weir has no other information about them. */
  readonly expired_in_archive: number;
  readonly highest: number;
}

export interface OutcomeCount {
  readonly log_id: string;
  readonly site_id: string;
  readonly outcome: string;
  readonly reason: string;
  readonly records: number;
}

/** Counts of dead letters that were redriven (docs/glossary.md). */
export interface RedrivenBooks {
  /** The numbers of rows `dead` whose record was redriven. The redriven record has its own row, with another outcome or again `dead`. */
  readonly superseded: readonly OutcomeCount[];
  /** The number of dead letters of which several redriven records are stored. It must be 0. */
  readonly redrivenTwice: number;
}

export interface AuditReport {
  readonly balanced: boolean;
  readonly log_id: string;
  readonly partitions: readonly PartitionAudit[];
  readonly totals: Books & {
    readonly received: number;
    readonly in_flight: number;
    readonly erasing: number;
    /** A part of `expired`. */
    readonly expired_in_archive: number;
    /** See `RedrivenBooks.redrivenTwice`. */
    readonly redriven_twice: number;
  };
  readonly sites: readonly (Books & { readonly site_id: string })[];
}

export interface PartitionAudit {
  readonly log_id: string;
  readonly partition: number;
  /** The first raw offset that was compared one by one. Below it, only the number of rows was compared. 0 if all raw offsets were compared. */
  readonly compared_from: number;
  /** When a check stored this raw offset as a checkpoint; null if all raw offsets were compared. */
  readonly checkpoint_at: string | null;
  readonly received: number;
  readonly outcomes: number;
  readonly in_flight: number;
  readonly missing: number;
  readonly repeated: number;
  readonly erasing: number;
  readonly expired_in_archive: number;
  readonly balanced: boolean;
}

interface Books {
  readonly stored: number;
  readonly identify: number;
  readonly duplicate: number;
  readonly dropped: Readonly<Record<string, number>>;
  /** By reason, the numbers of dead letters that were not redriven, or whose redriven record became a dead letter again. */
  readonly dead: Readonly<Record<string, number>>;
  /** The number of dead letters that were redriven. The redriven records are counted under their own outcomes. */
  readonly redriven: number;
  /** The number of erased records. While an erasure deletes records, some of them are also still counted under their former outcome. */
  readonly erased: number;
  /** The number of expired records. Their rows were older than the `keep` of their site, or the archive had removed the records before a restore. */
  readonly expired: number;
}

/**
 * The report is balanced if three conditions are true. Each raw offset of each log and partition, from 0 to the highest stored one, has exactly one
 * outcome. Received = stored + identify + duplicate + dropped + dead + redriven + erased + expired + in flight. At most one record of each dead
 * letter is stored. While an erasure or an expiry deletes rows (`isErasing`), a raw offset can be stored twice: as erased or expired, and with its
 * former outcome. `erasing` counts these offsets.
 *
 * `positions` has the end offsets of the log. They must be read after the counts. Otherwise the tables could have records beyond these
 * ends, as if the log had lost records. The tables can also have records of earlier logs. No record of an earlier log is in flight.
 */
export function auditReport(
  logId: string,
  positions: readonly Pick<PartitionPosition, 'partition' | 'end'>[],
  stored: readonly StoredPartition[],
  counts: readonly OutcomeCount[],
  isErasing: boolean,
  redriven: RedrivenBooks = NONE_REDRIVEN,
): AuditReport {
  const current = positions.map(({ partition, end }) => {
    const held = stored.find((row) => row.log_id === logId && row.raw_partition === partition);
    return partitionAudit(logId, partition, held, end);
  });
  const earlier = stored
    .filter((row) => row.log_id !== logId || !positions.some(({ partition }) => partition === row.raw_partition))
    .map((row) => partitionAudit(row.log_id, row.raw_partition, row, row.log_id === logId ? 0 : row.highest + 1));
  const partitions = [...current, ...earlier];
  const { redrivenTwice } = redriven;
  const settled = withoutRedriven(counts, redriven.superseded);
  const totals = books(settled);
  const received = sum(partitions, 'received');
  const inFlight = sum(partitions, 'in_flight');
  const siteIds = [...new Set(settled.map((count) => count.site_id))].sort();
  const erasing = sum(partitions, 'erasing');
  const accounted = settled.reduce((total, { records }) => total + records, 0);
  return {
    balanced:
      partitions.every((partition) => partition.balanced) &&
      received === accounted - erasing + inFlight &&
      (isErasing || erasing === 0) &&
      redrivenTwice === 0,
    log_id: logId,
    partitions,
    totals: {
      ...{ received, ...totals, in_flight: inFlight, erasing, redriven_twice: redrivenTwice },
      expired_in_archive: sum(partitions, 'expired_in_archive'),
    },
    sites: siteIds.map((siteId) => ({
      site_id: siteId,
      ...books(settled.filter((count) => count.site_id === siteId)),
    })),
  };
}

const NONE_REDRIVEN: RedrivenBooks = { superseded: [], redrivenTwice: 0 };

/**
 * Moves the rows of redriven dead letters from the outcome `dead` to `redriven`. While an erasure or an expiry deletes rows, some of these rows can
 * already be deleted. The function moves only the rows that are left.
 */
function withoutRedriven(
  counts: readonly OutcomeCount[],
  superseded: readonly OutcomeCount[],
): readonly OutcomeCount[] {
  if (superseded.length === 0) return counts;
  const keyOf = ({ log_id, site_id, reason }: OutcomeCount) => `${log_id} ${site_id} ${reason}`;
  const moved = new Map(superseded.map((count) => [keyOf(count), count.records]));
  return counts.flatMap((count) => {
    const records = count.outcome === 'dead' ? Math.min(count.records, moved.get(keyOf(count)) ?? 0) : 0;
    if (records === 0) return [count];
    return [
      { ...count, records: count.records - records },
      { ...count, outcome: 'redriven', records },
    ];
  });
}

function partitionAudit(
  logId: string,
  partition: number,
  held: StoredPartition | undefined,
  end: number,
): PartitionAudit {
  const last = held?.highest ?? -1;
  const distinct = held?.distinct_offsets ?? 0;
  const outcomes = held?.records ?? 0;
  const missing = last + 1 - distinct;
  const erasing = held?.erasing ?? 0;
  const repeated = outcomes - distinct - erasing;
  const inFlight = end - (last + 1);
  // A negative `inFlight` means that the tables have outcomes of records that the log does not have.
  const balanced = missing === 0 && repeated === 0 && inFlight >= 0;
  return {
    log_id: logId,
    partition,
    compared_from: 0,
    checkpoint_at: null,
    received: end,
    outcomes,
    in_flight: inFlight,
    missing,
    repeated,
    erasing,
    expired_in_archive: held?.expired_in_archive ?? 0,
    balanced,
  };
}

function books(counts: readonly OutcomeCount[]): Books {
  const of = (outcome: string): readonly OutcomeCount[] => counts.filter((count) => count.outcome === outcome);
  const byReason = (outcome: string): Record<string, number> => {
    const reasons: Record<string, number> = {};
    for (const { reason, records } of of(outcome)) if (records > 0) reasons[reason] = (reasons[reason] ?? 0) + records;
    return reasons;
  };
  const all = (outcome: string): number => of(outcome).reduce((total, { records }) => total + records, 0);
  return {
    stored: all('row'),
    identify: all('identify'),
    duplicate: all('duplicate'),
    dropped: byReason('dropped'),
    dead: byReason('dead'),
    redriven: all('redriven'),
    erased: all('erased'),
    expired: all('expired'),
  };
}

function sum(
  partitions: readonly PartitionAudit[],
  field: 'received' | 'in_flight' | 'erasing' | 'expired_in_archive',
): number {
  return partitions.reduce((total, partition) => total + partition[field], 0);
}

import { setTimeout as pause } from 'node:timers/promises';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import type { Logger } from '@weir/runtime/logger';
import { createAuditMetrics } from '@weir/runtime/metrics/control-metrics';
import type { Metrics } from '@weir/runtime/prometheus-metrics';
import { failureOf, repeatWork } from '../background/repeat-work.ts';
import { isReplacingRows } from '../retention/tables-in-use.ts';
import { type Checkpoint, readCheckpoints, storeCheckpoints } from './audit-checkpoints.ts';
import { AUDIT_LIMITS, findUnbalanced } from './find-unbalanced.ts';
import { countPartitions, type PartitionRows, rowsAbove } from './rows-above.ts';

export interface AuditChecksDeps {
  readonly analytics: Pick<Analytics, 'select' | 'change'>;
  readonly eventLog: Pick<EventLog, 'logId' | 'read'>;
  readonly registry: Registry;
  /** Resolves when the tables can be used. */
  readonly ready: Promise<void>;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly everyMs?: number;
  readonly wholeEveryMs?: number;
}

export interface RunningAuditChecks {
  close(): Promise<void>;
}

/** `distinct` is the number of different raw offsets (docs/glossary.md). It is undefined if the check did not compare the offsets one by one. */
interface ComparedRows extends PartitionRows {
  readonly distinct?: number | undefined;
}

interface DistinctRows {
  readonly records: number;
  readonly distinct: number;
}

interface Fault {
  readonly missing: number;
  readonly repeated: number;
}

/** A fault that was reported. `surplus`: the number of rows minus the number of raw offsets at the time of the report. */
interface Reported extends Fault {
  readonly surplus: number;
  /** False if the search for the missing and repeated raw offsets failed. */
  readonly isLocated: boolean;
}

const EVERY_MS = 60_000;
const WHOLE_EVERY_MS = 24 * 3_600_000;
/** If the statement that compares the raw offsets of new rows fails, the checks compare only the numbers of rows until this much time has passed. */
const PAUSE_MS = 10 * 60_000;
/**
 * If the statement that compares the raw offsets of the whole table fails, the checks compare only the numbers of rows until this much time has
 * passed.
 */
const WHOLE_PAUSE_MS = 60 * 60_000;
const CLOSE_WAIT_MS = 1_000;

/**
 * Compares the outcomes in ClickHouse with the raw offsets of the present log, every minute. The checkpoint of a partition is the offset below which
 * each offset had exactly one outcome. Checkpoints are stored in the table `audit_checkpoints`, for the next start and for `weir audit --since`.
 * From the checkpoint on, a check compares the raw offsets one by one. Below the checkpoint, it compares only the number of rows, which ClickHouse
 * reads from the projection `offsets` without a scan. This number does not show a fault if one row is missing and another row is repeated. So the
 * first check of a log, and then one check per day, compares all raw offsets, which reads three columns of the whole table. If such a check finds a
 * fault, the next check also compares all raw offsets, to confirm the fault. The end of a fault is confirmed in the same way.
 * There is no check while an erasure or an expiry deletes rows, or while a swap (docs/glossary.md) exchanges the tables. `weir audit` compares
 * everything at any time.
 */
export function startAuditChecks(deps: AuditChecksDeps): RunningAuditChecks {
  const { analytics, eventLog, registry, clock, logger, everyMs = EVERY_MS, wholeEveryMs = WHOLE_EVERY_MS } = deps;
  const metrics = createAuditMetrics(deps.metrics, clock());
  const stop = new AbortController();
  const { signal } = stop;
  /** The offset of the newest checkpoint of each partition. */
  const checkpoints = new Map<number, number>();
  /**
   * The offset of the highest checkpoint of each partition in the table `audit_checkpoints`. Until a new checkpoint is stored in this table,
   * only `checkpoints` has it.
   */
  const storedOffsets = new Map<number, number>();
  const reported = new Map<number, Reported>();
  /**
   * The partitions in which the last check found a fault. A fault is reported only if the next check finds it again, because a running insert can be
   * visible in parts for a moment.
   */
  let suspects = new Set<number>();
  /** The time from which on the next check compares all raw offsets. Undefined until the stored checkpoints are read. */
  let wholeAt: number | undefined;
  let isWholeWanted = false;
  let wholeFailed = false;
  let pausedUntil = 0;

  async function check(): Promise<void> {
    if (isReplacingRows(registry)) return;
    await deps.ready;
    if (wholeAt === undefined || clock() >= wholeAt) await readStored();
    const isDue = isWholeWanted || clock() >= (wholeAt ?? 0);
    const all = isDue ? await compareAll() : undefined;
    const rows = all ?? (await compareNew());
    if (signal.aborted || isReplacingRows(registry)) return;
    const found = new Map(rows.map((row) => [row.partition, row]));
    const unbalanced = new Set<number>();
    for (const partition of new Set([...checkpoints.keys(), ...reported.keys(), ...suspects, ...found.keys()])) {
      if (!(await isBalanced(partition, found.get(partition), all !== undefined))) unbalanced.add(partition);
      if (signal.aborted) return;
    }
    // The next check must confirm the new fault. For this, it must compare all raw offsets, because the numbers of rows may not show the fault.
    if (all !== undefined && [...unbalanced].some((partition) => !suspects.has(partition))) isWholeWanted = true;
    suspects = unbalanced;
    metrics.done(clock());
    await store(all !== undefined && unbalanced.size === 0);
  }

  /** Reads the stored checkpoints, and the time of the last check of any process that compared all raw offsets and found no fault. */
  async function readStored(): Promise<void> {
    const stored = await readCheckpoints(analytics, eventLog.logId);
    for (const [partition, offset] of stored.highest) {
      storedOffsets.set(partition, Math.max(offset, storedOffsets.get(partition) ?? 0));
      checkpoints.set(partition, Math.max(offset, checkpoints.get(partition) ?? 0));
    }
    // The clock may have been ahead when the checkpoints were stored. The minimum prevents a time in the future.
    wholeAt = stored.wholeAt === undefined ? clock() : Math.min(stored.wholeAt, clock()) + wholeEveryMs;
  }

  async function store(isWhole: boolean): Promise<void> {
    const rows: Checkpoint[] = [...checkpoints]
      .filter(([partition, offset]) => isWhole || storedOffsets.get(partition) !== offset)
      .map(([partition, offset]) => ({ partition, offset, checkedAt: clock() }));
    if (rows.length === 0) return;
    await storeCheckpoints(analytics, eventLog.logId, rows, isWhole);
    for (const { partition, offset } of rows) storedOffsets.set(partition, offset);
  }

  /** Compares all raw offsets. Undefined if the statement failed. */
  async function compareAll(): Promise<readonly ComparedRows[] | undefined> {
    isWholeWanted = false;
    const counted = await countPartitions(analytics, eventLog.logId);
    const distinct = await countDistinct(counted, () => 0, WHOLE_PAUSE_MS);
    wholeFailed = distinct === undefined;
    wholeAt = clock() + (wholeFailed ? WHOLE_PAUSE_MS : wholeEveryMs);
    return distinct && counted.map((row) => ({ ...row, distinct: distinct.get(row.partition)?.distinct ?? 0 }));
  }

  /** Compares the raw offsets from the checkpoints on. Reads nothing of partitions whose numbers of rows have not changed. */
  async function compareNew(): Promise<readonly ComparedRows[]> {
    const counted = await countPartitions(analytics, eventLog.logId);
    const from = (partition: number): number => checkpoints.get(partition) ?? 0;
    const changed = counted.filter((row) => {
      const { partition, records, highest } = row;
      const isSameFault = reported.get(partition)?.surplus === records - endOf(partition, row);
      return !isSameFault && (records !== from(partition) || highest + 1 !== records);
    });
    const above =
      changed.length === 0
        ? new Map()
        : clock() < pausedUntil
          ? undefined
          : await countDistinct(changed, from, PAUSE_MS);
    return counted.map((row) => {
      const { partition, records } = row;
      if (!changed.includes(row)) return { ...row, distinct: records };
      if (above === undefined) return row;
      const own = above.get(partition) ?? { records: 0, distinct: 0 };
      return { ...row, distinct: Math.min(records - own.records, from(partition)) + own.distinct };
    });
  }

  async function countDistinct(
    counted: readonly PartitionRows[],
    from: (partition: number) => number,
    pauseMs: number,
  ): Promise<ReadonlyMap<number, DistinctRows> | undefined> {
    const { sql, params } = rowsAbove(eventLog.logId, counted, from);
    try {
      const rows = await analytics.select<Readonly<Record<'part' | 'records' | 'distinct', number | string>>>(
        `SELECT raw_partition AS part, count() AS records, groupBitmap(raw_offset) AS distinct FROM records
         WHERE ${sql} GROUP BY part${AUDIT_LIMITS}`,
        params,
      );
      return new Map(
        rows.map((row) => [Number(row.part), { records: Number(row.records), distinct: Number(row.distinct) }]),
      );
    } catch (error) {
      pausedUntil = clock() + pauseMs;
      const problem = 'the audit could not compare the raw offsets one by one and compares only the numbers of rows';
      warn(error, `${problem} for ${pauseMs / 60_000} minutes`);
      return undefined;
    }
  }

  const endOf = (partition: number, row: PartitionRows | undefined): number =>
    Math.max(row === undefined ? 0 : row.highest + 1, checkpoints.get(partition) ?? 0);

  async function isBalanced(partition: number, row: ComparedRows | undefined, isWhole: boolean): Promise<boolean> {
    const records = row?.records ?? 0;
    const end = endOf(partition, row);
    const distinct = row === undefined ? 0 : (row.distinct ?? Math.min(records, end));
    const fault = { missing: end - distinct, repeated: records - distinct };
    const surplus = records - end;
    const before = reported.get(partition);
    const isExact = isWhole || row === undefined;
    if (before?.surplus === surplus && (!isExact || (before.isLocated && isSame(before, fault)))) return false;
    if (fault.missing + fault.repeated === 0) {
      if (before !== undefined && !isExact && !wholeFailed) {
        // A part of the reported fault may remain. Only a comparison of all raw offsets can show this.
        isWholeWanted = true;
        return false;
      }
      reported.delete(partition);
      if (row?.distinct !== undefined) checkpoints.set(partition, end);
      metrics.checked(partition, 0, 0);
      return true;
    }
    if (suspects.has(partition)) await report(partition, end, fault, surplus);
    return false;
  }

  async function report(partition: number, end: number, fault: Fault, surplus: number): Promise<void> {
    metrics.checked(partition, fault.missing, fault.repeated);
    const advice = 'raw records have no outcome or several: run `weir audit` (docs/operations.md, Monitoring)';
    try {
      const found = await findUnbalanced(analytics, eventLog, {
        partition,
        from: checkpoints.get(partition) ?? 0,
        end,
      });
      // An erasure, an expiry or a swap can have begun during the search. The missing rows can also have been inserted during the search. In these
      // cases, nothing is reported.
      if (signal.aborted || isReplacingRows(registry) || found.missing + found.repeated === 0) return;
      metrics.checked(partition, found.missing, found.repeated);
      reported.set(partition, { missing: found.missing, repeated: found.repeated, surplus, isLocated: true });
      logger.error({ partition, ...found }, advice);
    } catch (error) {
      if (signal.aborted) return;
      reported.set(partition, { ...fault, surplus, isLocated: false });
      logger.error({ partition, ...fault }, advice);
      warn(error, 'the audit could not read which raw offsets have no outcome or several');
    }
  }

  function warn(error: unknown, message: string): void {
    if (signal.aborted) return;
    logger.warn(failureOf(error), message);
  }

  const repeated = repeatWork(everyMs, stop, check, (error) =>
    warn(error, 'the audit in the background stopped and will be tried again'),
  );
  return {
    async close() {
      // `close` does not wait for the end of a long check, because its result is not needed.
      await Promise.race([repeated.close(), pause(CLOSE_WAIT_MS, undefined, { ref: false })]);
    },
  };
}

const isSame = (one: Fault, other: Fault): boolean => one.missing === other.missing && one.repeated === other.repeated;

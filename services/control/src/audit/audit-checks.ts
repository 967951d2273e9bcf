import { setTimeout as pause } from 'node:timers/promises';
import { isDependencyError } from '@weir/domain/errors';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import { createAuditMetrics } from '@weir/runtime/audit-metrics';
import type { Logger } from '@weir/runtime/logger';
import type { Metrics } from '@weir/runtime/prometheus-metrics';
import { problemText } from '../erasure/run-erasure.ts';
import { isReplacingRows } from '../retention/tables-in-use.ts';
import { AUDIT_LIMITS, findUnbalanced } from './find-unbalanced.ts';

export interface AuditChecksDeps {
  readonly analytics: Pick<Analytics, 'select'>;
  readonly eventLog: Pick<EventLog, 'logId' | 'read'>;
  readonly registry: Registry;
  /** Resolves when the tables can be used. */
  readonly ready: Promise<void>;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly everyMs?: number;
  readonly exactEveryMs?: number;
}

export interface RunningAuditChecks {
  close(): Promise<void>;
}

/**
 * The rows of one raw partition of the present log. `distinct` is the number of different raw offsets; it is set only if they were counted.
 */
interface PartitionRows {
  readonly partition: number | string;
  readonly records: number | string;
  readonly highest: number | string;
  readonly distinct?: number | string;
}

interface Fault {
  readonly missing: number;
  readonly repeated: number;
}

/** A fault that was reported, and by how much the number of rows exceeded the number of raw offsets at that time. */
interface Reported extends Fault {
  readonly surplus: number;
  /** False if reading its raw offsets failed. */
  readonly isLocated: boolean;
}

const EVERY_MS = 60_000;
const EXACT_EVERY_MS = 60 * EVERY_MS;
const CLOSE_WAIT_MS = 1_000;

/**
 * Compares the outcomes in ClickHouse with the raw offsets every minute, for the present log. The checkpoint of a partition is the offset below
 * which each offset had exactly one outcome. A check compares the number of rows of each partition with its highest offset and its checkpoint,
 * which the projection `offsets` of the table shows without a scan. A missing row and a repeated row can balance in these numbers. So the first
 * check, and then one check in an hour, counts the distinct offsets, which reads two columns of the whole table.
 * A check while rows are replaced is left out. `weir audit` compares everything at any time.
 */
export function startAuditChecks(deps: AuditChecksDeps): RunningAuditChecks {
  const { analytics, eventLog, registry, clock, logger, everyMs = EVERY_MS, exactEveryMs = EXACT_EVERY_MS } = deps;
  const metrics = createAuditMetrics(deps.metrics);
  const stop = new AbortController();
  const { signal } = stop;
  /** By partition. */
  const checkpoints = new Map<number, number>();
  /** By partition. */
  const reported = new Map<number, Reported>();
  /** The partitions that were unbalanced in the check before. An insert can be visible in parts for a moment. */
  let suspects = new Set<number>();
  let exactAt = clock();
  let exactFailed = false;
  let working: Promise<void> | undefined;

  async function check(): Promise<void> {
    await deps.ready;
    const isExact = clock() >= exactAt;
    if (isExact) exactAt = clock() + exactEveryMs;
    const rows = (isExact && (await countDistinct())) || (await count());
    if (signal.aborted || isReplacingRows(registry)) return;
    const found = new Map(rows.map((row) => [Number(row.partition), row]));
    const unbalanced = new Set<number>();
    for (const partition of new Set([...checkpoints.keys(), ...reported.keys(), ...suspects, ...found.keys()])) {
      if (!(await isBalanced(partition, found.get(partition)))) unbalanced.add(partition);
      if (signal.aborted) return;
    }
    // The next check counts the distinct offsets again: a fault that they have shown may not be visible in the numbers of rows alone.
    if (isExact && [...unbalanced].some((partition) => !suspects.has(partition))) exactAt = clock();
    suspects = unbalanced;
    metrics.done(clock());
  }

  const count = (distinct = '', settings = '') =>
    analytics.select<PartitionRows>(
      `SELECT raw_partition AS partition, count() AS records, max(raw_offset) AS highest${distinct} FROM records
       WHERE log_id = {log:String} GROUP BY raw_partition${settings}`,
      { log: eventLog.logId },
    );

  async function countDistinct(): Promise<readonly PartitionRows[] | undefined> {
    try {
      const rows = await count(', groupBitmap(raw_offset) AS distinct', AUDIT_LIMITS);
      exactFailed = false;
      return rows;
    } catch (error) {
      exactFailed = true;
      warn(error, 'the audit could not compare the raw offsets one by one and will try it again in an hour');
      return undefined;
    }
  }

  async function isBalanced(partition: number, row: PartitionRows | undefined): Promise<boolean> {
    const records = Number(row?.records ?? 0);
    const end = Math.max(row === undefined ? 0 : Number(row.highest) + 1, checkpoints.get(partition) ?? 0);
    const isExact = row === undefined || row.distinct !== undefined;
    const distinct = isExact ? Number(row?.distinct ?? 0) : Math.min(records, end);
    const fault = { missing: end - distinct, repeated: records - distinct };
    const surplus = records - end;
    const before = reported.get(partition);
    if (before?.surplus === surplus && (!isExact || (before.isLocated && isSame(before, fault)))) return false;
    if (fault.missing + fault.repeated === 0) {
      if (before !== undefined && !isExact && !exactFailed) {
        // The numbers of rows balance again, but a part of the reported fault may be left. Only the next count of the distinct offsets can
        // show it.
        exactAt = clock();
        return false;
      }
      reported.delete(partition);
      checkpoints.set(partition, end);
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
      // Rows were replaced or inserted while they were read.
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
    const code = isDependencyError(error) ? error.code : undefined;
    logger.warn({ code, problem: problemText(error) }, message);
  }

  function look(): void {
    if (signal.aborted || working !== undefined || isReplacingRows(registry)) return;
    working = check()
      .catch((error: unknown) => warn(error, 'the audit in the background stopped and will be tried again'))
      .finally(() => {
        working = undefined;
      });
  }

  const timer = setInterval(look, everyMs);
  timer.unref();
  look();
  return {
    async close() {
      stop.abort();
      clearInterval(timer);
      // The result of a running check is not needed.
      await Promise.race([working, pause(CLOSE_WAIT_MS, undefined, { ref: false })]);
    },
  };
}

const isSame = (one: Fault, other: Fault): boolean => one.missing === other.missing && one.repeated === other.repeated;

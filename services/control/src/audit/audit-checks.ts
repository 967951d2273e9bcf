import { isDependencyError } from '@weir/domain/errors';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import { createAuditMetrics } from '@weir/runtime/audit-metrics';
import type { Logger } from '@weir/runtime/logger';
import type { Metrics } from '@weir/runtime/prometheus-metrics';
import { problemText } from '../erasure/run-erasure.ts';
import { tablesInUse } from '../retention/tables-in-use.ts';
import { findUnbalanced } from './find-unbalanced.ts';

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
}

export interface RunningAuditChecks {
  close(): Promise<void>;
}

/** The rows of one raw partition of the present log. */
interface PartitionRows {
  readonly partition: number;
  readonly records: number;
  readonly highest: number;
}

const EVERY_MS = 60_000;

/**
 * Compares the outcomes in ClickHouse with the raw offsets every minute, for the present log. The checkpoint of a partition is the offset below
 * which each offset has exactly one outcome. Only offsets from the checkpoint on are compared one by one. The number of rows below it must be
 * the checkpoint, which the projection `offsets` of the table shows without a scan. The first check after a start begins at offset 0.
 * A check during an erasure, an expiry or a replay is left out: rows are replaced then. `weir audit` compares everything at any time.
 */
export function startAuditChecks(deps: AuditChecksDeps): RunningAuditChecks {
  const { analytics, eventLog, registry, clock, logger, everyMs = EVERY_MS } = deps;
  const metrics = createAuditMetrics(deps.metrics);
  const stop = new AbortController();
  const { signal } = stop;
  /** By partition. */
  const checkpoints = new Map<number, number>();
  /** The partitions that were unbalanced in the check before. An insert can be visible in parts for a moment. */
  let suspects = new Set<number>();
  let working: Promise<void> | undefined;

  async function check(): Promise<void> {
    await deps.ready;
    const all = await analytics.select<PartitionRows>(
      `SELECT raw_partition AS partition, count() AS records, max(raw_offset) AS highest FROM records
       WHERE log_id = {log:String} GROUP BY raw_partition`,
      { log: eventLog.logId },
    );
    const found = new Set<number>();
    for (const row of all) {
      if (signal.aborted || isReplaced()) return;
      const [partition, records, highest] = [Number(row.partition), Number(row.records), Number(row.highest)];
      const from = checkpoints.get(partition) ?? 0;
      // Nothing was stored, and nothing was removed.
      if (!suspects.has(partition) && records === from && highest === from - 1) continue;
      if (!(await isBalanced(partition, records, from, highest))) found.add(partition);
    }
    for (const partition of found) if (suspects.has(partition)) await report(partition);
    suspects = found;
    metrics.done(clock());
  }

  async function isBalanced(partition: number, records: number, from: number, highest: number): Promise<boolean> {
    const [above] = await analytics.select<{ records: number; distinct: number }>(
      `SELECT count() AS records, groupBitmap(raw_offset) AS distinct FROM records
       WHERE log_id = {log:String} AND raw_partition = {partition:UInt32} AND raw_offset BETWEEN {from:UInt64} AND {to:UInt64}`,
      { log: eventLog.logId, partition, from, to: highest },
    );
    const stored = Number(above?.records ?? 0);
    const isWhole = stored === highest + 1 - from && Number(above?.distinct ?? 0) === stored;
    if (!isWhole || records - stored !== from) return false;
    checkpoints.set(partition, highest + 1);
    metrics.checked(partition, 0, 0);
    return true;
  }

  async function report(partition: number): Promise<void> {
    const found = await findUnbalanced(analytics, eventLog, partition);
    // Rows were replaced while they were read.
    if (signal.aborted || isReplaced()) return;
    metrics.checked(partition, found.missing, found.repeated);
    if (found.missing + found.repeated === 0) return;
    logger.error(
      { partition, ...found },
      'raw records have no outcome or several: run `weir audit` (docs/operations.md, Monitoring)',
    );
  }

  const isReplaced = () => tablesInUse(registry) !== undefined || registry.expiry()?.phase === 'deleting';

  function look(): void {
    if (signal.aborted || working !== undefined || isReplaced()) return;
    working = check()
      .catch((error: unknown) => {
        if (signal.aborted) return;
        const code = isDependencyError(error) ? error.code : undefined;
        logger.warn(
          { code, problem: problemText(error) },
          'the audit in the background stopped and will be tried again',
        );
      })
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
      await working;
    },
  };
}

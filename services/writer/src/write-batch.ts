import { DependencyError, isDependencyError } from '@weir/domain/errors';
import type { Analytics } from '@weir/ports/analytics';
import type { PartitionHandle } from '@weir/ports/event-log';
import { assertOwned, describeError, pauseBeforeRetry } from '@weir/runtime/consume-retry';
import type { PartitionProgress } from '@weir/runtime/consume-status';
import type { Logger } from '@weir/runtime/logger';
import type { ConsumeMetrics } from '@weir/runtime/metrics';
import { type Batch, halve, type Row } from './batch.ts';
import { assertStored, insertBatch, planInsert } from './insert-batch.ts';
import type { Slots } from './insert-slots.ts';
import { DEAD_ERROR_CHARS_MAX, encodeProgress, type Plan } from './plan.ts';

export interface WriteBatchDeps {
  readonly handle: PartitionHandle;
  readonly logId: string;
  readonly analytics: Analytics;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly metrics: ConsumeMetrics;
  readonly progress: PartitionProgress;
  readonly insertSlots: Slots;
  /** Default `UNKNOWN_SETTLES_MS`. */
  readonly unknownSettlesMs?: number | undefined;
}

/**
 * Writes batches of one partition, one at a time, in order. `cut` gives the batch when its turn to insert has come: rows gather
 * while other partitions insert, and few large inserts cost the store a fraction of many small ones. Resolves with the batch.
 */
export type WriteBatch = (cut: () => Batch) => Promise<Batch>;

/** About two minutes: what is still away then may need a person. */
const TRIES_BEFORE_ALARM = 30;

/** What is left to write in place of a piece. `stop`: why nothing more should be tried for a while. */
interface Step {
  readonly left: readonly Batch[];
  readonly stop?: string;
}

/** An insert is sent only so long after its plan was last committed: a writer that slept finds out that it lost the partition. */
const PLAN_FRESH_MS = 10_000;

/**
 * How long an attempt of unknown outcome may still be under way, and end in the table: it was sent `PLAN_FRESH_MS` after its plan at
 * the latest, and client and server give it 2 minutes (`clickhouse-analytics.ts`). Until then a refusal parts nothing: pieces have
 * tokens of their own, and would be stored beside it (docs/decisions/0006).
 */
export const UNKNOWN_SETTLES_MS = PLAN_FRESH_MS + 130_000;

/**
 * So many refused rows in a row are an alarm, but stop nothing: each is refused alone while its dead letter, a line with every
 * column in it, is taken, so the table takes rows (docs/decisions/0006). Where it does not, that stops the partition.
 */
export const DEAD_RUN_ALARM_ROWS = 20;

/**
 * Resolves when every row of the batch is in `records`, itself or as a dead letter. Rejects with `partition_lost`.
 * For each piece of the batch: the plan is committed, the insert is made; unavailable: the same again; refused: halved, down
 * to the one row that is refused, which becomes a dead letter. Pieces are planned and inserted in order, each under its own
 * range, so that a takeover in between finds only the piece under way.
 */
export function createWriteBatch(deps: WriteBatchDeps, redo: Plan | undefined): WriteBatch {
  const { handle, logId, analytics, clock, logger, metrics, progress } = deps;
  const { partition, signal } = handle;
  const settlesMs = deps.unknownSettlesMs ?? UNKNOWN_SETTLES_MS;
  let deadRun = 0;
  /** Until then an attempt of the first piece may be under way: here, or with whoever had the plan that is redone. */
  let unsettledUntil = redo === undefined ? 0 : clock() + settlesMs;
  /** An attempt of the first piece may have left its token and nothing else. */
  let doubtful = redo !== undefined;

  async function writePiece(next: () => Batch): Promise<Step> {
    const { piece, insert, result, settled } = await deps.insertSlots(async () => {
      assertOwned(signal, partition);
      const piece = next();
      const insert = planInsert(piece, logId, partition);
      assertAsPlanned(insert.plan);
      const plannedAt = clock();
      // Before the insert: what `records` is asked after it must be all that will ever be there.
      const settled = plannedAt >= unsettledUntil;
      await handle.commit({
        offset: (piece.rows[0] as Row).offset,
        metadata: encodeProgress({ next: insert.plan.from, plan: insert.plan }),
      });
      if (clock() - plannedAt > PLAN_FRESH_MS) {
        throw new DependencyError('event_log_unavailable', `partition ${partition}: the plan took too long to commit`);
      }
      const result = await insertBatch(analytics, insert, logId, partition).catch((error: unknown) => {
        unsettledUntil = clock() + settlesMs;
        doubtful = true;
        throw error;
      });
      if (doubtful && result.status === 'inserted') await assertStored(analytics, insert.plan, logId, partition);
      metrics.batch(partition, (clock() - plannedAt) / 1000);
      return { piece, insert, result, settled };
    });
    redo = undefined;
    // A row and its dead letter have the same token: whichever comes second is dropped.
    if (result.status === 'refused' && piece.rows.length > 1 && !settled) {
      const why = 'an earlier attempt may still be under way';
      throw new DependencyError('analytics_unavailable', `${result.error}, but ${why}: not parted yet`);
    }
    unsettledUntil = 0;
    if (result.status === 'refused') return replacePiece(piece, result.error);
    doubtful = false;
    if (piece.dead === undefined) deadRun = 0;
    else {
      deadRun++;
      metrics.dead(partition);
      logger.error({ partition, rawOffset: insert.plan.from }, 'row refused by ClickHouse: dead letter');
    }
    if (deadRun < DEAD_RUN_ALARM_ROWS) progress.recovered();
    else if (progress.raise(DEAD_RUN_ALARM)) metrics.alarm(partition);
    return { left: [] };
  }

  function assertAsPlanned(plan: Plan): void {
    if (redo === undefined || redo.from !== plan.from || samePlan(redo, plan)) return;
    throw new DependencyError(
      'event_log_damaged',
      `partition ${partition}: planned ${JSON.stringify(redo)}, but the log now gives ${JSON.stringify(plan)}`,
    );
  }

  function replacePiece(piece: Batch, error: string): Step {
    if (piece.rows.length > 1) return { left: halve(piece) };
    const asItWas = { rows: piece.rows };
    if (piece.dead !== undefined) return { left: [asItWas], stop: `even a dead letter is refused: ${error}` };
    return { left: [{ ...asItWas, dead: printable(error).slice(0, DEAD_ERROR_CHARS_MAX) }] };
  }

  return async (cut) => {
    const taken: { batch?: Batch } = {};
    let pieces: readonly Batch[] = [];
    const next = (): Batch => {
      if (taken.batch === undefined) {
        taken.batch = cut();
        pieces = [taken.batch];
      }
      return pieces[0] as Batch;
    };
    for (let attempt = 0; ; ) {
      assertOwned(signal, partition);
      try {
        const { left, stop } = await writePiece(next);
        pieces = [...left, ...pieces.slice(1)];
        if (stop !== undefined) throw new DependencyError('analytics_refused', stop);
        if (taken.batch !== undefined && pieces.length === 0) return taken.batch;
        attempt = 0;
      } catch (error) {
        if (isDependencyError(error, 'partition_lost')) throw error;
        report(error, attempt);
        await pauseBeforeRetry(attempt++, signal);
      }
    }
  };

  function report(error: unknown, attempt: number): void {
    const { code, message } = describeError(error);
    const passing = code === 'analytics_unavailable' || code === 'event_log_unavailable';
    metrics.failure(partition, code);
    progress.failed(message);
    if ((!passing || attempt >= TRIES_BEFORE_ALARM) && progress.raise(message)) metrics.alarm(partition);
    logger[passing ? 'warn' : 'error']({ partition, code, err: error }, 'writer: retrying');
  }
}

const DEAD_RUN_ALARM = `${DEAD_RUN_ALARM_ROWS} rows in a row or more were refused and are dead letters now: see dead_letters`;

function samePlan(a: Plan, b: Plan): boolean {
  return a.to === b.to && a.version === b.version && a.checksum === b.checksum && a.dead === b.dead;
}

/** ASCII only, so that 300 chars stay below the metadata's 2,000 bytes, and any log keeps them as they are. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?');
}

import { DependencyError, isDependencyError } from '@weir/domain/errors';
import { RECORDS_COLUMNS_BY_VERSION } from '@weir/domain/records/records-columns';
import type { Analytics } from '@weir/ports/analytics';
import type { Batch, Row } from './batch.ts';
import { linesChecksum, type Plan, planToken } from './plan.ts';
import { refusedRowLetter } from './refused-row-letter.ts';
import { isPassedOver } from './replayed-rows.ts';

/**
 * An insert is sent only if the commit of its plan (plan.ts) took at most this time. A writer whose commit took longer may have lost the partition
 * since then.
 */
export const PLAN_FRESH_MS = 10_000;

/**
 * An insert with an unknown result may still add rows to the table until this time after its plan. The writer sent it at most `PLAN_FRESH_MS` after
 * the plan, and client and server stop it after 2 minutes (`clickhouse-analytics.ts`). Until then, a refused batch is not divided: its pieces have
 * other tokens, so ClickHouse could store their rows a second time (docs/decisions/0006).
 */
export const UNKNOWN_SETTLES_MS = PLAN_FRESH_MS + 130_000;

export interface PlannedInsert {
  readonly plan: Plan;
  readonly lines: readonly Uint8Array[];
  /** The raw offset (offset in `events.raw`) of the last line, or -1 if there are no lines. */
  readonly lastLine: number;
}

export function planInsert(
  batch: Batch,
  { generation, block }: Pick<Plan, 'generation' | 'block'>,
  logId: string,
  partition: number,
): PlannedInsert {
  const { rows, dead } = batch;
  const first = rows[0] as Row;
  const inserted = rows.filter((row) => !isPassedOver(row));
  const lines = inserted.map((row) =>
    dead === undefined ? row.line : refusedRowLetter({ logId, partition, row, error: dead }),
  );
  const plan = {
    from: first.rawOffset,
    to: first.rawOffset + rows.length - 1,
    version: first.version,
    generation,
    checksum: linesChecksum(lines),
    ...(dead === undefined ? {} : { dead }),
    block,
  };
  return { plan, lines, lastLine: inserted.at(-1)?.rawOffset ?? -1 };
}

/**
 * Inserts the rows of a plan.
 * - `inserted`: all rows are in `records` and in every view. If an earlier attempt had an unknown result, the caller must check this with
 *   `assertStored`.
 * - `refused`: ClickHouse refused the rows, and none of them is in `records`. Repeating the insert does not help.
 *
 * Rejects with `generation_changed` if the tables were exchanged since the plan was made. Rejects with `analytics_unavailable` if the result is
 * unknown. Rejects with `analytics_refused` if `records` has the rows but a view refuses them: only a repeat of the same insert, with the same
 * token, can then complete the view.
 */
export async function insertBatch(
  analytics: Analytics,
  { plan, lines }: PlannedInsert,
  logId: string,
  partition: number,
): Promise<{ readonly status: 'inserted' } | { readonly status: 'refused'; readonly error: string }> {
  const columns = RECORDS_COLUMNS_BY_VERSION[plan.version] ?? [];
  try {
    const token = planToken(logId, partition, plan);
    await analytics.insertRecords({ columns, lines, token, generation: plan.generation });
    return { status: 'inserted' };
  } catch (error) {
    if (!isDependencyError(error, 'analytics_refused')) throw error;
    if ((await analytics.highestRawOffset(logId, partition)) >= plan.from) throw error;
    return { status: 'refused', error: error.message };
  }
}

/**
 * Rejects with `analytics_damaged` if ClickHouse dropped an insert as a repeat although `records` does not have its rows. This
 * happens only after an attempt with an unknown result: the server was killed after it stored the token and before it stored the part
 * (docs/decisions/0018).
 */
export async function assertStored(
  analytics: Analytics,
  { plan, lastLine }: Pick<PlannedInsert, 'plan' | 'lastLine'>,
  logId: string,
  partition: number,
): Promise<void> {
  const highest = await analytics.highestRawOffset(logId, partition);
  if (highest >= lastLine) return;
  throw new DependencyError(
    'analytics_damaged',
    `partition ${partition}: ClickHouse dropped raw offsets ${plan.from} to ${plan.to} as a repeat, but records ends at ${highest}: its server ` +
      'was killed while it stored them. The writer stops here until ClickHouse has forgotten their token: see docs/decisions/0018',
  );
}

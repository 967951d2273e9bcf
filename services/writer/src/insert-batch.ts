import { DependencyError, isDependencyError } from '@weir/domain/errors';
import { RECORDS_COLUMNS_BY_VERSION } from '@weir/domain/records-columns';
import type { Analytics } from '@weir/ports/analytics';
import type { Batch, Row } from './batch.ts';
import { deadLine } from './dead-line.ts';
import { linesChecksum, type Plan, planToken } from './plan.ts';

/** A batch ready to insert: its plan and its lines. */
export interface PlannedInsert {
  readonly plan: Plan;
  readonly lines: readonly Uint8Array[];
}

export function planInsert(batch: Batch, logId: string, partition: number): PlannedInsert {
  const { rows, dead } = batch;
  const first = rows[0] as Row;
  const lines = rows.map((row) => (dead === undefined ? row.line : deadLine({ logId, partition, row, error: dead })));
  const plan = {
    from: first.rawOffset,
    to: first.rawOffset + rows.length - 1,
    version: first.version,
    checksum: linesChecksum(lines),
    ...(dead === undefined ? {} : { dead }),
  };
  return { plan, lines };
}

/**
 * `inserted`: all lines are in `records` and in every view. `refused`: the rows are at fault and none is in `records`; repeating
 * won't change that.
 * Rejects with `analytics_unavailable`, and with `analytics_refused` where `records` has the rows but a view refuses them:
 * only the same insert again, with the same token, can mend that.
 */
export async function insertBatch(
  analytics: Analytics,
  { plan, lines }: PlannedInsert,
  logId: string,
  partition: number,
): Promise<{ readonly status: 'inserted' } | { readonly status: 'refused'; readonly error: string }> {
  const columns = RECORDS_COLUMNS_BY_VERSION[plan.version] ?? [];
  try {
    await analytics.insertRecords({ columns, lines, token: planToken(logId, partition, plan) });
    return { status: 'inserted' };
  } catch (error) {
    if (!isDependencyError(error, 'analytics_refused')) throw error;
    if ((await analytics.highestRawOffset(logId, partition)) >= plan.from) throw error;
    return { status: 'refused', error: error.message };
  }
}

/**
 * Rejects with `analytics_damaged` where `records` took an insert for a repeat and doesn't hold it: its server was killed between
 * noting a token and storing the part (docs/decisions/0018). To ask is worth it only after an attempt of unknown outcome.
 */
export async function assertStored(analytics: Analytics, plan: Plan, logId: string, partition: number): Promise<void> {
  const highest = await analytics.highestRawOffset(logId, partition);
  if (highest >= plan.to) return;
  throw new DependencyError(
    'analytics_damaged',
    `records took raw offsets ${plan.from} to ${plan.to} of partition ${partition} for a repeat, but goes up to ${highest} only: its server was ` +
      'killed while it stored them. Nothing of the partition is written until their token is forgotten: see docs/decisions/0018',
  );
}

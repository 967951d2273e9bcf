import { setTimeout as pause } from 'node:timers/promises';
import { DependencyError } from '@weir/domain/errors';
import type { Analytics } from '@weir/ports/analytics';
import { isPermissionError, wholeNumberIn } from './clickhouse-errors.ts';

const CHECK_EVERY_MS = 20;
/** The longest wait. The time limit of every insert is shorter (`INSERT_SETTINGS` in clickhouse-analytics.ts). */
const END_WITHIN_MS = 150_000;

/** Returns the IDs of the inserts into `database` that are running now, on all replicas. */
export async function runningInserts(
  select: Analytics['select'],
  database: string,
  cluster: string | undefined,
): Promise<readonly string[]> {
  const processes = cluster === undefined ? 'system.processes' : `clusterAllReplicas('${cluster}', system.processes)`;
  const rows = await select<{ id: string }>(
    `SELECT query_id AS id FROM ${processes} WHERE query_kind = 'Insert' AND current_database = {database:String}`,
    { database },
  );
  return rows.map(({ id }) => id);
}

/** Resolves when every insert into `database` that is running now has ended. Does not wait for inserts that begin later. */
export async function untilRunningInsertsEnd(
  select: Analytics['select'],
  database: string,
  cluster: string | undefined,
): Promise<void> {
  let waitedFor: ReadonlySet<string> | undefined;
  for (let waitedMs = 0; ; waitedMs += CHECK_EVERY_MS) {
    const running = await runningInserts(select, database, cluster);
    waitedFor = new Set(waitedFor === undefined ? running : running.filter((id) => waitedFor?.has(id)));
    if (waitedFor.size === 0) return;
    if (waitedMs >= END_WITHIN_MS) {
      const message = `${waitedFor.size} inserts into ${database} are still running after ${waitedMs} ms`;
      throw new DependencyError('analytics_unavailable', message);
    }
    await pause(CHECK_EVERY_MS);
  }
}

/**
 * Returns the number of the latest block of `records`: 0 if the table is empty, and undefined if Weir's user may not read `system.parts`. A MergeTree
 * numbers the blocks of all months together, and a ReplicatedMergeTree those of each month.
 */
export async function readLatestBlock(select: Analytics['select']): Promise<number | undefined> {
  try {
    const [row] = await select<{ block: string | number }>(
      "SELECT if(startsWith(any(engine), 'Replicated'), sum(latest), max(latest)) AS block FROM (" +
        'SELECT any(engine) AS engine, max(max_block_number) AS latest FROM system.parts ' +
        "WHERE database = currentDatabase() AND table = 'records' GROUP BY partition_id)",
    );
    return wholeNumberIn(row?.block);
  } catch (error) {
    if (isPermissionError(error)) return undefined;
    throw error;
  }
}

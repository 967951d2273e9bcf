import type { Analytics } from '@weir/ports/analytics';

/** The result of a check of one raw partition: at `checkedAt`, each raw offset (docs/glossary.md) below `offset` had exactly one outcome. */
export interface Checkpoint {
  readonly partition: number;
  readonly offset: number;
  /** Unix milliseconds. */
  readonly checkedAt: number;
}

export interface StoredCheckpoints {
  /** The highest checkpoint of each partition. */
  readonly highest: ReadonlyMap<number, number>;
  /** When a check last compared all raw offsets one by one and found no fault, in Unix milliseconds; undefined if there was no such check. */
  readonly wholeAt: number | undefined;
}

/** Reads the checkpoints that earlier checks of this process and of other processes have stored. */
export async function readCheckpoints(
  { select }: Pick<Analytics, 'select'>,
  logId: string,
): Promise<StoredCheckpoints> {
  const rows = await select<Readonly<Record<'partition' | 'reached' | 'whole', number | string>>>(
    `SELECT raw_partition AS partition, max(raw_offset) AS reached, toUnixTimestamp64Milli(maxIf(checked_at, is_whole)) AS whole
     FROM audit_checkpoints WHERE log_id = {log:String} GROUP BY partition`,
    { log: logId },
  );
  const wholeAt = Math.max(0, ...rows.map(({ whole }) => Number(whole)));
  return {
    highest: new Map(rows.map(({ partition, reached }) => [Number(partition), Number(reached)])),
    wholeAt: wholeAt === 0 ? undefined : wholeAt,
  };
}

/**
 * For each partition, reads the last checkpoint that was stored at `beforeMs` (Unix milliseconds) or earlier. The result has no entry for a
 * partition without such a checkpoint.
 */
export async function readCheckpointsBefore(
  { select }: Pick<Analytics, 'select'>,
  logId: string,
  beforeMs: number,
): Promise<readonly Checkpoint[]> {
  const rows = await select<Readonly<Record<'partition' | 'reached' | 'at', number | string>>>(
    `SELECT raw_partition AS partition, argMax(raw_offset, checked_at) AS reached, toUnixTimestamp64Milli(max(checked_at)) AS at
     FROM audit_checkpoints
     WHERE log_id = {log:String} AND checked_at <= fromUnixTimestamp64Milli({before:Int64}, 'UTC') GROUP BY partition`,
    { log: logId, before: beforeMs },
  );
  return rows.map(({ partition, reached, at }) => ({
    ...{ partition: Number(partition), offset: Number(reached), checkedAt: Number(at) },
  }));
}

/** Stores checkpoints of one check. `isWhole`: the check compared all raw offsets one by one and found no fault. */
export async function storeCheckpoints(
  { change }: Pick<Analytics, 'change'>,
  logId: string,
  checkpoints: readonly Checkpoint[],
  isWhole: boolean,
): Promise<void> {
  const rows = checkpoints.map(({ partition, offset, checkedAt }) => {
    const time = new Date(checkedAt).toISOString().slice(0, -1).replace('T', ' ');
    return `('${logId}', ${partition}, ${offset}, '${time}', ${isWhole})`;
  });
  await change(
    `INSERT INTO audit_checkpoints (log_id, raw_partition, raw_offset, checked_at, is_whole) VALUES ${rows.join(', ')}`,
  );
}

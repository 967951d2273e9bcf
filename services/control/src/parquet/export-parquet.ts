import { utcDay } from '@weir/domain/people/cookieless';
import type { Analytics } from '@weir/ports/analytics';
import type { ObjectStore } from '@weir/ports/object-store';
import type { Registry } from '@weir/ports/registry';
import type { Logger } from '@weir/runtime/logger';
import { hasOpenErasure } from '../erasure/request-erasure.ts';
import {
  endKey,
  lastRound,
  logsOfRound,
  PARTS,
  type ParquetEnd,
  type ParquetRound,
  parsePartName,
  partName,
  putRound,
  readRound,
} from './parquet-rounds.ts';
import { lastTimes, partsOf, storedLogs, storePart } from './parquet-rows.ts';

export interface ParquetDeps {
  readonly store: ObjectStore;
  readonly analytics: Pick<Analytics, 'select' | 'streamQuery' | 'generation'>;
  readonly registry: Pick<Registry, 'erasures' | 'expiry'>;
  readonly clock: () => number;
  readonly logger: Logger;
  /** Receives the reason why the export waits, if an operator must act. */
  readonly onWait: (reason: string) => void;
  /** For how long after its day a file is kept. If undefined, no file is deleted. */
  readonly retentionMs: number | undefined;
}

const DAY_MS = 24 * 3_600_000;
/** A day counts as complete this long after its end. Rows of the day that are stored later come into a file of a later round. */
const COMPLETE_AFTER_MS = 3_600_000;

/**
 * Continues an interrupted round, or begins a new round if a complete day has not been exported yet. A round exports the rows of complete
 * days. While an erasure or an expiry runs, exports nothing. `fence` must reject if another process exports now. Resolves with the number of
 * stored files.
 */
export async function exportParquet(
  deps: ParquetDeps,
  signal: AbortSignal,
  fence: () => Promise<void>,
): Promise<number> {
  const { store, clock, logger } = deps;
  const last = await readRound(store, await lastRound(store));
  const through = utcDay(clock() - COMPLETE_AFTER_MS - DAY_MS);
  if (last.through > utcDay(clock()))
    deps.onWait(
      `the export of Parquet files waits until ${last.through} is over, because round ${last.round} has exported this day: check the clock of this machine`,
    );
  if ((last.done && through <= last.through) || isChanging(deps)) return 0;
  await deleteExpired(deps);
  let round = last;
  if (last.done) {
    round = { round: last.round + 1, through, ends: await endsOf(deps.analytics, last), after: '', done: false };
    await fence();
    await putRound(store, round);
  }
  const before = await readRound(store, round.round - 1);
  const logs = await storedLogs(deps.analytics);
  const missing = logsOfRound(before, round).filter((log) => !logs.has(log));
  if (missing.length > 0) {
    deps.onWait(
      `the export of Parquet files waits: round ${round.round} has begun with rows of the logs ${missing.join(', ')}, which the tables do not have. Restore them from the archive`,
    );
    return 0;
  }
  let stored = 0;
  for (const part of await partsOf(deps.analytics, before, round)) {
    const name = partName(part);
    if (name <= round.after || isExpired(deps, part.day)) continue;
    signal.throwIfAborted();
    if (isChanging(deps)) return stored;
    await storePart(deps, part, before, round, signal);
    // If an erasure or expiry has begun, the file can contain a record twice: as it was, and as `erased` or `expired`. The next attempt stores the
    // file again.
    if (isChanging(deps)) return stored;
    await fence();
    round = { ...round, after: name };
    await putRound(store, round);
    stored++;
  }
  await fence();
  await putRound(store, { ...round, done: true });
  logger.info(
    { round: round.round, through: round.through, parts: stored },
    'exported the rows of complete days as Parquet',
  );
  return stored;
}

/** Returns the limits of a new round. They are never lower than those of the last round, even if the tables have lost rows since. */
async function endsOf({ select }: Pick<Analytics, 'select'>, last: ParquetRound): Promise<ParquetRound['ends']> {
  const rows = await select<{ log_id: string; raw_partition: number; end: number | string }>(
    'SELECT toString(log_id) AS log_id, raw_partition, max(raw_offset) + 1 AS end FROM records GROUP BY log_id, raw_partition',
  );
  const ends = new Map<string, ParquetEnd>();
  for (const end of last.ends) ends.set(endKey(end), { ...end, through: end.through ?? last.through });
  for (const row of rows) {
    const found = { logId: row.log_id, partition: Number(row.raw_partition), end: Number(row.end) };
    ends.set(endKey(found), { ...found, end: Math.max(found.end, ends.get(endKey(found))?.end ?? 0) });
  }
  const times = await lastTimes({ select }, [...ends.values()]);
  return [...ends].map(([key, { lastAt: _, ...end }]) => {
    const lastAt = times.get(key);
    return lastAt === undefined ? end : { ...end, lastAt };
  });
}

/** Whether there is an expiry, or an erasure that is not done: either can change rows at any time. */
function isChanging({ registry }: ParquetDeps): boolean {
  return registry.expiry() !== undefined || hasOpenErasure(registry);
}

function isExpired({ clock, retentionMs }: ParquetDeps, day: string): boolean {
  return retentionMs !== undefined && Date.parse(`${day}T00:00:00Z`) + DAY_MS + retentionMs < clock();
}

async function deleteExpired(deps: ParquetDeps): Promise<void> {
  if (deps.retentionMs === undefined) return;
  for await (const { name } of deps.store.list(PARTS)) {
    const part = parsePartName(name);
    if (part !== undefined && isExpired(deps, part.day)) await deps.store.delete(name);
  }
}

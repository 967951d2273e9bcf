import type { Tombstone } from '@weir/domain/erasure/tombstone';
import type { ParquetErasure } from '@weir/ports/registry';
import { removeLeftovers } from '@weir/runtime/archive/remove-leftovers';
import type { EraseArchive } from '../erasure/erase-archive.ts';
import { logsOfRound, PARTS, type ParquetRound, parsePartName, readRound } from './parquet-rounds.ts';
import { isOfLostRecords, storedLogs, storePart } from './parquet-rows.ts';

/**
 * For each day of the site with erased or expired rows, makes the Parquet files again from the tables and stores them in place of the old files.
 * Expired rows count too, because they may have belonged to the erased person. Call it after the erasure has changed the tables. `left` counts the
 * files that cannot be made again: they contain rows of an earlier log, or of records that a restore has replaced, and the tables do not have them.
 */
export async function eraseParquet(
  { store, analytics, assertOwn, clock }: Pick<EraseArchive, 'store' | 'analytics' | 'assertOwn' | 'clock'>,
  [first]: readonly Tombstone[],
): Promise<ParquetErasure> {
  const site = first?.siteId ?? '';
  // The leftover of an interrupted upload can contain rows of the erased person. Leftovers of the last day may be uploads in progress, so they stay;
  // archive-upkeep.ts removes them later.
  await removeLeftovers(store, clock());
  const rows = await analytics.select<{ day: string }>(
    "SELECT DISTINCT toString(toDate(received_at, 'UTC')) AS day FROM records WHERE outcome IN ('erased', 'expired') AND site_id = {site:String}",
    { site },
  );
  const days = new Set(rows.map(({ day }) => day));
  const logs = await storedLogs(analytics);
  const rounds = new Map<number, ParquetRound>();
  const roundOf = async (round: number): Promise<ParquetRound> => {
    const found = rounds.get(round) ?? (await readRound(store, round));
    rounds.set(round, found);
    return found;
  };
  const lost = new Map<number, boolean>();
  const hasLost = async (before: ParquetRound, round: ParquetRound): Promise<boolean> => {
    const known = lost.get(round.round) ?? (await isOfLostRecords(analytics, before, round));
    lost.set(round.round, known);
    return known;
  };
  let rewritten = 0;
  let left = 0;
  for await (const { name } of store.list(`${PARTS}site=${site}/`)) {
    const part = parsePartName(name);
    if (part === undefined) continue;
    const [before, round] = [await roundOf(part.round - 1), await roundOf(part.round)];
    if (logsOfRound(before, round).some((log) => !logs.has(log))) left++;
    else if (days.has(part.day)) {
      assertOwn();
      await storePart({ analytics, store }, part, before, round);
      rewritten++;
    } else if (await hasLost(before, round)) left++;
  }
  return { rewritten, left };
}

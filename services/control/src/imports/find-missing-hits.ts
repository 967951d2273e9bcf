import { importEventIds } from '@weir/domain/access-log/import-event-ids';
import type { AdminDeps } from '../control-deps.ts';
import type { ImportHit } from './import-chunk.ts';
import { findLetterIds } from './imported-letters.ts';
import { waitUntilVisible } from './wait-until-stored.ts';

/**
 * Finds the hits of an interrupted chunk that are not in the log. Waits until ClickHouse has all records of the log, and then looks up the event
 * IDs of the hits in ClickHouse. Resolves with undefined if ClickHouse did not have all records in time.
 */
export async function findMissingHits(
  deps: Pick<AdminDeps, 'eventLog' | 'tables' | 'insertsEnd'>,
  siteId: string,
  fileDigest: string,
  hits: readonly ImportHit[],
): Promise<readonly ImportHit[] | undefined> {
  if (hits.length === 0) return hits;
  if (!(await waitUntilVisible(deps))) return undefined;
  return findUnstoredHits(deps, siteId, fileDigest, hits);
}

/**
 * Finds the hits that ClickHouse does not have now: neither as a record nor as a dead letter that can be redriven (`findLetterIds`). Such a hit can
 * nevertheless be in the log, if the writer has not inserted it yet. A record with the reason `site_removed` does not count: it was dropped when an
 * earlier site with this ID was removed.
 */
export async function findUnstoredHits(
  deps: Pick<AdminDeps, 'eventLog' | 'tables'>,
  siteId: string,
  fileDigest: string,
  hits: readonly ImportHit[],
): Promise<readonly ImportHit[]> {
  const eventId = importEventIds(siteId, fileDigest);
  const ids = hits.map(({ line }) => eventId(line));
  const rows = await deps.tables.read((tables) =>
    tables.select<{ id: string }>(
      `SELECT event_id AS id FROM records WHERE site_id = {site:String} AND event_id IN {ids:Array(String)}
       AND outcome != 'dead' AND reason != 'site_removed'`,
      { site: siteId, ids },
    ),
  );
  const present = new Set(rows.map(({ id }) => id));
  const letters = await findLetterIds(deps, siteId, ids);
  return hits.filter(({ line }) => !present.has(eventId(line)) && !letters.has(eventId(line)));
}

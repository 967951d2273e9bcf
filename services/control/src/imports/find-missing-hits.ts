import { importEventIds } from '@weir/domain/access-log-event-id';
import type { ControlDeps } from '../control-deps.ts';
import type { ImportHit } from './import-chunk.ts';
import { waitUntilStored } from './wait-until-stored.ts';

const WAIT_MS = 15_000;

/**
 * Which of the hits of an interrupted chunk are not in the log. Everything that is in the log by now is first waited for, so that
 * the analytics store, which keeps each record's event ID, knows. `undefined`: the pipeline did not catch up in time.
 */
export async function findMissingHits(
  deps: Pick<ControlDeps, 'eventLog' | 'analytics' | 'clock'>,
  siteId: string,
  fileDigest: string,
  hits: readonly ImportHit[],
): Promise<readonly ImportHit[] | undefined> {
  if (hits.length === 0) return hits;
  if (!(await waitUntilStored(deps, WAIT_MS))) return undefined;
  const eventId = importEventIds(siteId, fileDigest);
  const rows = await deps.analytics.select<{ id: string }>(
    'SELECT event_id AS id FROM records WHERE site_id = {site:String} AND event_id IN {ids:Array(String)}',
    { site: siteId, ids: hits.map(({ line }) => eventId(line)) },
  );
  const present = new Set(rows.map(({ id }) => id));
  return hits.filter(({ line }) => !present.has(eventId(line)));
}

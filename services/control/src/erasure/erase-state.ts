import { userLinkKey, visitorSessionsKey } from '@weir/domain/records/state-keys';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import type { StateStore } from '@weir/ports/state-store';
import type { PersonSql } from './person-sql.ts';

export interface EraseState {
  readonly analytics: Analytics;
  readonly stateStore: StateStore;
  readonly eventLog: Pick<EventLog, 'logId' | 'partitionCount'>;
  readonly person: PersonSql;
}

const PAGE_ROWS = 1_000;

/**
 * Removes the sessions, links and idempotency keys of the erased persons from the state store. It reads their IDs from `records`, so call it before
 * the rows of these persons are deleted.
 */
export async function eraseState(task: EraseState): Promise<void> {
  const { stateStore, person } = task;
  const { siteId } = person;
  await eachPage(task, 'visitor_id', (ids) =>
    removeState(
      task,
      ids.map((id) => visitorSessionsKey(siteId, id)),
    ),
  );
  await eachPage(
    task,
    'user_id',
    (ids) =>
      removeState(
        task,
        ids.map((id) => userLinkKey(siteId, id)),
      ),
    `user_id NOT IN (${keptLinks(task)})`,
  );
  if (person.whole) await stateStore.removeSiteKeys(siteId);
  else await eachPage(task, 'idempotency_key', (keys) => stateStore.removeKeys(siteId, keys));
}

/**
 * Selects the users of erased records whose link stays: their last identify is not erased. It names another visitor than the erased one, or the user
 * was identified again after the request. "Last" means last in the log, as in the step `link-visitor` of the enricher. Imported identifies make no
 * link.
 */
function keptLinks({ person, eventLog }: EraseState): string {
  return `SELECT user_id FROM records
    WHERE site_id = '${person.siteId}' AND outcome = 'identify' AND reason != 'unlink' AND source != 'import' AND visitor_id != ''
      AND user_id IN (SELECT user_id FROM records WHERE ${person.records})
    GROUP BY user_id HAVING NOT argMax(${person.records}, (log_id = '${eventLog.logId}', raw_offset))`;
}

/** Removes keys from the state of all partitions. The key alone does not show to which partition it belongs. */
async function removeState({ stateStore, eventLog }: EraseState, keys: readonly string[]): Promise<void> {
  const { logId, partitionCount } = eventLog;
  const { id: epoch } = await stateStore.readEpoch(logId, partitionCount);
  for (let partition = 0; partition < partitionCount; partition++) {
    await stateStore.removeState(epoch, { logId, partition }, keys);
  }
}

async function eachPage(
  { analytics, person }: EraseState,
  column: string,
  handle: (ids: readonly string[]) => Promise<void>,
  further = '1',
): Promise<void> {
  for (let after = ''; ; ) {
    const rows = await analytics.select<{ id: string }>(
      `SELECT DISTINCT ${column} AS id FROM records WHERE ${person.records} AND ${further} AND id > {after:String} ORDER BY id LIMIT ${PAGE_ROWS}`,
      { after },
    );
    const ids = rows.map(({ id }) => id);
    if (ids.length > 0) await handle(ids);
    const last = ids.at(-1);
    if (last === undefined || ids.length < PAGE_ROWS) return;
    after = last;
  }
}

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
  await eachPage(task, 'user_id', (ids) =>
    removeState(
      task,
      ids.map((id) => userLinkKey(siteId, id)),
    ),
  );
  if (person.whole) await stateStore.removeSiteKeys(siteId);
  else await eachPage(task, 'idempotency_key', (keys) => stateStore.removeKeys(siteId, keys));
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
): Promise<void> {
  for (let after = ''; ; ) {
    const rows = await analytics.select<{ id: string }>(
      `SELECT DISTINCT ${column} AS id FROM records WHERE ${person.records} AND id > {after:String} ORDER BY id LIMIT ${PAGE_ROWS}`,
      { after },
    );
    const ids = rows.map(({ id }) => id);
    if (ids.length > 0) await handle(ids);
    const last = ids.at(-1);
    if (last === undefined || ids.length < PAGE_ROWS) return;
    after = last;
  }
}

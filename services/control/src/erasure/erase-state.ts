import { compileErasures } from '@weir/domain/erasure/erases';
import type { Tombstone } from '@weir/domain/erasure/tombstone';
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
  /** The tombstones (docs/glossary.md) from which `person` was made. */
  readonly parts: readonly Tombstone[];
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
  await eachPage(task, 'user_id', (ids) => removeLinks(task, ids));
  if (person.whole) await stateStore.removeSiteKeys(siteId);
  else await eachPage(task, 'idempotency_key', (keys) => stateStore.removeKeys(siteId, keys));
}

/**
 * Removes the links of these users (a page of sorted IDs) whose user or visitor is erased, except links to a visitor on whom an identify of the user
 * stays. Compares with the links in the state, because `records` does not show which identify made a link: an identify of a dump (docs/glossary.md)
 * is stored like any other, but makes no link, and the writer may not have inserted the last identify yet.
 */
async function removeLinks(
  { analytics, stateStore, eventLog, person, parts }: EraseState,
  users: readonly string[],
): Promise<void> {
  const { siteId, at } = person;
  const { logId, partitionCount } = eventLog;
  const erases = compileErasures(parts);
  const isErased = (userId: string, visitorId: string): boolean =>
    erases?.record({ siteId, receivedAt: at, timestamp: at, visitorId, userId, customerId: '' }) ?? false;
  const rows = await analytics.select<{ user: string; visitor: string }>(
    `SELECT DISTINCT user_id AS user, visitor_id AS visitor FROM records
     WHERE site_id = '${siteId}' AND outcome = 'identify' AND reason != 'unlink' AND NOT (${person.records})
       AND user_id IN (SELECT user_id FROM records WHERE ${person.records}) AND user_id >= {first:String} AND user_id <= {last:String}`,
    { first: users[0], last: users.at(-1) },
  );
  const staying = new Set(rows.map(({ user, visitor }) => JSON.stringify([user, visitor])));
  const { id: epoch } = await stateStore.readEpoch(logId, partitionCount);
  const keys = users.map((user) => userLinkKey(siteId, user));
  for (let partition = 0; partition < partitionCount; partition++) {
    const { values } = await stateStore.readState(epoch, { logId, partition }, keys);
    const removed = keys.filter((_, nth) => {
      const [user = '', visitor = ''] = [users[nth], values[nth]];
      return isErased(user, visitor) && !staying.has(JSON.stringify([user, visitor]));
    });
    if (removed.length > 0) await stateStore.removeState(epoch, { logId, partition }, removed);
  }
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

import { setTimeout as pause } from 'node:timers/promises';
import type { Tombstone } from '@weir/domain/erasure/tombstone';
import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/records/topics';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import type { Erasure, Registry } from '@weir/ports/registry';
import type { StateStore } from '@weir/ports/state-store';
import { eraseState } from './erase-state.ts';
import { eraseTables } from './erase-tables.ts';
import { findLetters } from './find-letters.ts';
import { findLinked } from './find-linked.ts';
import { personSql } from './person-sql.ts';
import { tombstoneParts } from './tombstone-parts.ts';

export interface ErasureDeps {
  readonly registry: Registry;
  readonly eventLog: EventLog;
  readonly analytics: Analytics;
  readonly stateStore: StateStore;
  readonly clock: () => number;
}

export interface ErasureWork extends ErasureDeps {
  readonly workerId: string;
  readonly signal: AbortSignal;
  /** All enrichers are in this process, so they know a tombstone at once. */
  readonly alone: boolean;
}

/** Another process has taken over the erasure. */
export class Taken extends Error {
  override readonly name = 'Taken';
}

/** Longer than a change of the registry needs to reach every process. */
const REGISTRY_LAG_MS = 2_000;
const STORED_POLL_MS = 50;
const REPORT_EVERY_MS = 10_000;

/**
 * Carries out an erasure, from its last phase on. Its tombstone was written before it:
 * 1. `waiting`: until every record that was in the log at the request is stored. From then on, no record of the set is stored any more: the
 *    enrichers know the tombstone.
 * 2. `resolving`: adds the devices and payment customers of the erased users to the tombstone.
 * 3. `deleting`: removes state and rows.
 * Resolves when the erasure is done. Rejects with `Taken`, or with the error of a dependency: then call it again.
 */
export async function runErasure(work: ErasureWork, erasureId: string): Promise<void> {
  const { registry, analytics, clock, workerId, signal } = work;
  let writing: Promise<void> = Promise.resolve();

  /** One after the other, so that a report that the work goes on does not overwrite a change. */
  function update(change: Partial<Erasure>, mayTake = false): Promise<void> {
    const written = writing.then(async () => {
      if (!mayTake) assertOwn();
      const erasure = registry.erasure(erasureId);
      if (erasure === undefined) throw new Taken();
      await registry.putErasure({ ...erasure, ...change, worker: { id: workerId, at: clock() } });
    });
    writing = written.catch(() => undefined);
    return written;
  }
  function own(): Erasure {
    const erasure = registry.erasure(erasureId);
    if (erasure === undefined || erasure.worker?.id !== workerId) throw new Taken();
    return erasure;
  }
  function assertOwn(): void {
    signal.throwIfAborted();
    own();
  }

  await update({}, true);
  const reports = setInterval(() => void update({}).catch(() => undefined), REPORT_EVERY_MS);
  reports.unref();
  try {
    if (own().phase === 'waiting') await waitUntilStored();
    if (own().phase === 'resolving') await resolve();
    if (own().phase === 'deleting') await erase();
  } finally {
    clearInterval(reports);
    await writing;
  }

  async function waitUntilStored(): Promise<void> {
    const { eventLog, alone } = work;
    const { at, ends: known } = own();
    const lagMs = alone ? 0 : Math.max(0, at + REGISTRY_LAG_MS - clock());
    if (known === undefined && lagMs > 0) await pause(lagMs, undefined, { signal });
    const positions = known === undefined ? await eventLog.positions(TOPIC_RAW, GROUP_ENRICHER) : [];
    const ends = known ?? positions.map(({ first, end }) => (end > first ? end : 0));
    await update({ ends });
    for (const [partition, end] of ends.entries()) {
      while (end > 0 && (await analytics.highestRawOffset(eventLog.logId, partition)) < end - 1) {
        await pause(STORED_POLL_MS, undefined, { signal });
      }
    }
    await update({ phase: 'resolving' });
  }

  async function resolve(): Promise<void> {
    const asked = partsOf();
    const [first] = asked;
    if (first === undefined) throw new Error(`the erasure ${erasureId} has no tombstone`);
    const linked = await findLinked(analytics, { ...first, entries: asked.flatMap(({ entries }) => entries) });
    const entries = asked.flatMap((part) => part.entries);
    const added = linked.filter((entry) => !entries.includes(entry));
    assertOwn();
    for (const part of tombstoneParts({ ...first, part: asked.length }, added)) await registry.putTombstone(part);
    await update({ phase: 'deleting' });
  }

  async function erase(): Promise<void> {
    const parts = partsOf();
    for (const { name: database, live } of await databases(analytics)) {
      const isLive = Boolean(live);
      const person = personSql(parts, await findLetters(analytics, database, parts));
      if (isLive) await eraseState({ ...work, person });
      await eraseTables({
        analytics,
        database,
        person,
        erasureId,
        clock,
        assertOwn,
        async count(table, rows) {
          const { removed } = own();
          const name = isLive ? table : `${database}.${table}`;
          // A repeat finds less.
          if (removed[name] === undefined) await update({ removed: { ...removed, [name]: rows } });
        },
        async begin(month) {
          const { begun } = own();
          const key = `${database}:${month}`;
          const at = begun[key] ?? clock();
          if (begun[key] === undefined) await update({ begun: { ...begun, [key]: at } });
          return at;
        },
      });
    }
    await update({ phase: 'done', finishedAt: clock(), problem: '' });
  }

  function partsOf(): readonly Tombstone[] {
    const { siteId } = own();
    return registry
      .tombstones(siteId)
      .filter((part) => part.erasureId === erasureId)
      .toSorted((a, b) => a.part - b.part);
  }
}

/** The tables that are read, and those of a replay that is not swapped in yet or can be undone. */
function databases(analytics: Analytics) {
  return analytics.select<{ name: string; live: boolean | number }>(
    `SELECT name, name = currentDatabase() AS live FROM system.databases
     WHERE name IN (currentDatabase(), concat(currentDatabase(), '_shadow')) ORDER BY live DESC`,
  );
}

import { setTimeout as pause } from 'node:timers/promises';
import type { Tombstone } from '@weir/domain/erasure/tombstone';
import { DependencyError, isDependencyError } from '@weir/domain/errors';
import { GROUP_ENRICHER, TOPIC_RAW } from '@weir/domain/records/topics';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import type { ObjectStore } from '@weir/ports/object-store';
import type { ArchiveErasure, Erasure, Registry } from '@weir/ports/registry';
import type { StateStore } from '@weir/ports/state-store';
import { REPORT_EVERY_MS, Taken } from '../background/held-work.ts';
import { eraseParquet } from '../parquet/erase-parquet.ts';
import { startedAt } from '../replay/erased-rows-of-log.ts';
import { archiveEnds, endedWithoutArchive, eraseArchive, topicEnds, unarchived } from './erase-archive.ts';
import { eraseState } from './erase-state.ts';
import { eraseTables } from './erase-tables.ts';
import { findLetters } from './find-letters.ts';
import { findLinked } from './find-linked.ts';
import { liveAndShadow, liveInsertsEnd } from './live-and-shadow.ts';
import { personSql } from './person-sql.ts';
import { REGISTRY_LAG_MS, writersPauseEnds } from './request-erasure.ts';
import { tombstoneParts } from './tombstone-parts.ts';

export interface ErasureDeps {
  readonly registry: Registry;
  readonly eventLog: EventLog;
  readonly analytics: Analytics;
  readonly stateStore: StateStore;
  /** Undefined if Weir does not archive. */
  readonly archive?: ObjectStore | undefined;
  readonly clock: () => number;
}

export interface ErasureWork extends ErasureDeps {
  readonly workerId: string;
  readonly signal: AbortSignal;
  /** Writes the list of tombstones (docs/glossary.md) into the place of the scheduled backups, so that a restore erases the person again. */
  readonly publish?: (() => Promise<void>) | undefined;
  /** Returns the time at which the last detached part of the tables will be removed (`ControlDeps` in control-deps.ts). */
  readonly detachedUntil: () => number | undefined;
  /** True if all enrichers are in this process. A tombstone then applies at once. */
  readonly alone: boolean;
  /** An attempt fails if the writers make no progress for this long. Default: `STALLED_MS`. */
  readonly stalledMs?: number;
}

/** Thrown if an erasure must wait for the archiver. This is not a failure, but the wait can take hours, so other erasures run meanwhile. */
export class Waits extends Error {
  override readonly name = 'Waits';
}

const STORED_POLL_MS = 50;
const STALLED_MS = 60_000;
const WAITS = 'waits until the role archiver has archived';
const NOT_BEGUN: ArchiveErasure = { after: '', segments: 0, rewritten: 0, records: {} };

/**
 * Carries out an erasure. It continues with the phase that an earlier attempt has reached. The tombstone is already in the registry.
 * 1. `waiting`: removes the site, if this was requested. Then waits until every record that was in the log at the time of the request is stored.
 *    Records of the person that are processed later are not stored, because the enrichers apply the tombstone.
 * 2. `resolving`: adds the devices and payment customers of the erased users to the tombstone. If there are any, waits again until every record that
 *    is in the log is stored: an enricher can have processed records of these devices before it had the new entries.
 * 3. `deleting`: deletes the state and the rows.
 * 4. `archive`, only if there is an archive: waits until the records of `events.raw` and `events.enriched` are archived, then removes the records of
 *    the person from segments and Parquet files. The same pass also does this for older erasures of the site that were done while there was no
 *    archive.
 * Resolves when the erasure is done. Rejects with `Taken` if another process continues it. If it rejects with `Waits` or the error of a dependency,
 * call it again later.
 */
export async function runErasure(work: ErasureWork, erasureId: string): Promise<void> {
  const { registry, analytics, clock, workerId, signal } = work;
  let writing: Promise<void> = Promise.resolve();

  /** Writes a change to the registry. Writes run one after the other, so that a report (every `REPORT_EVERY_MS`) cannot overwrite a change. */
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
    if (own().phase === 'archive') {
      // An earlier attempt may have erased all segments, and then failed before it published the tombstones.
      if (own().archive?.parquet === undefined) await eraseSegments();
      await finish();
    }
  } finally {
    clearInterval(reports);
    await writing;
  }

  async function waitUntilStored(): Promise<void> {
    if (own().removesSite !== undefined && own().ends === undefined) await removeSite();
    const { at, ends: known } = own();
    const lagMs = Math.max(0, at + (work.alone ? 0 : REGISTRY_LAG_MS) - clock());
    if (known === undefined && lagMs > 0) await pause(lagMs, undefined, { signal });
    const ends = known ?? (await topicEnds(work.eventLog, TOPIC_RAW, GROUP_ENRICHER));
    await update({ ends });
    await storedUpTo(ends);
    await update({ phase: 'resolving' });
  }

  /**
   * Removes the site, and then moves `at` to a time after which no gateway accepts records of the site. Call this function only while the erasure
   * has no `ends`. After a failure, call it again. It does not remove a newer site with the same ID. Such a site can exist if the erasure was
   * already done and runs again, because a process that was paused overwrote the state of the erasure with an older state.
   */
  async function removeSite(): Promise<void> {
    const { siteId, removesSite } = own();
    do {
      // This write makes sure that this process knows all earlier changes of the registry.
      await update({});
      if ((registry.site(siteId)?.createdAt ?? removesSite) !== removesSite) return;
      await registry.removeSite(siteId);
      assertOwn();
      const at = Math.max(own().at, clock() + REGISTRY_LAG_MS);
      for (const part of partsOf()) await registry.putTombstone({ ...part, at });
      await update({ at });
      await pause(Math.max(0, at - clock()), undefined, { signal });
      // Another process can have stored a change of the site after the removal. The site is then removed again.
    } while (registry.site(siteId) !== undefined);
    assertOwn();
    // Also removes the keys and other rows that other processes stored before they knew of the removal.
    await registry.removeSite(siteId);
  }

  /**
   * Waits until the tables have all records before these ends. Rejects if no further record of a partition is stored for `stalledMs`, so that other
   * erasures can run.
   */
  async function storedUpTo(ends: readonly number[]): Promise<void> {
    const { eventLog, stalledMs = STALLED_MS } = work;
    for (const [partition, end] of ends.entries()) {
      let [last, since] = [Number.NaN, 0];
      while (end > 0) {
        const highest = await analytics.highestRawOffset(eventLog.logId, partition);
        if (highest >= end - 1) break;
        if (highest !== last) [last, since] = [highest, performance.now()];
        if (performance.now() - since >= stalledMs) {
          const behind = `the records of ${TOPIC_RAW} ${partition} before the erasure are not stored in the tables, without progress for ${stalledMs / 1000} s`;
          throw new DependencyError('analytics_unavailable', `${behind}: check the roles enricher and writer`);
        }
        await pause(STORED_POLL_MS, undefined, { signal });
      }
    }
  }

  async function resolve(): Promise<void> {
    const asked = partsOf();
    const [first] = asked;
    if (first === undefined) throw new Error(`the erasure ${erasureId} has no tombstone`);
    // A running insert may have filled `records`, but not yet the tables of links and payment customers, which `findLinked` reads.
    await liveInsertsEnd(analytics);
    const linked = await findLinked(analytics, { ...first, entries: asked.flatMap(({ entries }) => entries) });
    const entries = asked.flatMap((part) => part.entries);
    const added = linked.filter((entry) => !entries.includes(entry));
    assertOwn();
    for (const part of tombstoneParts({ ...first, part: asked.length }, added)) await registry.putTombstone(part);
    // This wait is needed even if an earlier attempt has added all entries, because that attempt may have failed before its wait.
    if (linked.length > 0) {
      if (!work.alone) await pause(REGISTRY_LAG_MS, undefined, { signal });
      await storedUpTo(await topicEnds(work.eventLog, TOPIC_RAW, GROUP_ENRICHER));
    }
    await update({ phase: 'deleting' });
  }

  async function erase(): Promise<void> {
    if (own().finishedAt === undefined) {
      // A swap can have begun in a process that did not know of this erasure. If rows were deleted while it exchanges the tables, the rows `erased`
      // would be in the former tables. By now both processes know of each other, because this one has waited for `REGISTRY_LAG_MS`.
      await writersPauseEnds(registry, signal);
      await eraseRows();
    }
    if (work.archive === undefined && own().archiveEnds === undefined) await finish();
    else await update({ phase: 'archive', archiveEnds: await archiveEnds(work.eventLog) });
  }

  async function eraseRows(): Promise<void> {
    const parts = partsOf();
    for (const { name: database, live } of await liveAndShadow(analytics)) {
      const isLive = Boolean(live);
      const person = personSql(parts, await findLetters(analytics, database, parts));
      if (isLive) await eraseState({ ...work, person, parts });
      await eraseTables({
        analytics,
        database,
        person,
        erasureId,
        clock,
        async change(statement, token) {
          assertOwn();
          await analytics.change(statement, token);
        },
        async count(table, rows) {
          const { removed } = own();
          const name = isLive ? table : `${database}.${table}`;
          // Only the count of the first attempt is kept. A repeat finds fewer rows, because the first attempt has deleted some.
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
  }

  async function eraseSegments(): Promise<void> {
    const { archive: store, eventLog } = work;
    const { archive = NOT_BEGUN, archiveEnds: ends = {} } = own();
    if (store === undefined)
      throw new Error('ARCHIVE_URL is not set for the role control any more: set it, so that the archive is erased');
    const behind = await unarchived(eventLog, ends);
    if (behind !== '') throw new Waits(`${WAITS} ${behind} (at most ARCHIVE_LINGER_SECONDS)`);
    if (own().problem?.startsWith(WAITS)) await update({ problem: '' });
    const report = (progress: ArchiveErasure) => update({ archive: progress });
    const { siteId, at } = own();
    const ended = endedWithoutArchive(registry);
    // A pass that continues does not visit the segments before `after` again, so it carries out no further erasures. A later erasure can have records
    // after `ends`. For all of these, `reopen` (start-erasures.ts) begins another pass.
    const older = archive.after === '' ? ended.filter((one) => one.siteId === siteId && one.at <= at) : [];
    const { covers = older.map(({ erasureId }) => erasureId) } = archive;
    const late = ended.filter(({ erasureId }) => covers.includes(erasureId));
    // Old receipts are removed (`surplusReceipts` in request-erasure.ts), but not the tombstones. The archive can have records of these erasures too.
    const known = new Set(registry.erasures().map((erasure) => erasure.erasureId));
    const isLate = covers.length > 0 || own().finishedAt !== undefined;
    const withoutReceipt = isLate
      ? registry.tombstones(siteId).filter((part) => part.at <= at && !known.has(part.erasureId))
      : [];
    const parts = [...[own(), ...late].flatMap((erasure) => partsOf(erasure.erasureId)), ...withoutReceipt];
    const task = { store, analytics, parts, begun: { ...archive, covers }, clock, assertOwn, report };
    const { covers: _, ...progress } = await eraseArchive(task);
    const erased = { ...progress, parquet: await eraseParquet(task, parts) };
    for (const erasure of late) await registry.putErasure({ ...erasure, archiveEnds: ends, archive: erased });
    await report(erased);
  }

  async function finish(): Promise<void> {
    // An erasure that was done before there was an archive keeps its `finishedAt`, because it does not change the tables again. A replay that began
    // during the erasure can have read rows of the person. Its swap (docs/glossary.md) is refused if `finishedAt` is not before the start of the
    // replay (`erasureSince`), so `finishedAt` is never before this start, also if the clock of the process with the replay is ahead.
    const replay = registry.replay();
    const finishedAt = Math.max(clock(), replay === undefined ? 0 : startedAt(replay));
    if (own().finishedAt === undefined) await update({ finishedAt });
    await publish();
    const detachedUntil = work.detachedUntil();
    const detached = detachedUntil === undefined ? {} : { detachedUntil };
    await update({ phase: 'done', problem: '', ...detached });
  }

  async function publish(): Promise<void> {
    try {
      await work.publish?.();
    } catch (error) {
      if (!isDependencyError(error)) throw error;
      const problem = 'the rows are erased, but WEIR_BACKUP_TO cannot be written, and a restore would bring them back';
      throw new DependencyError(error.code, `${problem}: ${error.message}`, { cause: error });
    }
  }

  function partsOf(id = erasureId): readonly Tombstone[] {
    const { siteId } = own();
    return registry
      .tombstones(siteId)
      .filter((part) => part.erasureId === id)
      .toSorted((a, b) => a.part - b.part);
  }
}

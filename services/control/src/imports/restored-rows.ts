import type { DumpedRow } from '@weir/domain/dump/dumped-row';
import { erasableRow } from '@weir/domain/dump/erasable-row';
import { createErasures } from '@weir/domain/erasure/erases';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import { createMutex, type RunExclusive } from '../registry/mutex.ts';
import { rowsBetween } from '../rows-between.ts';
import type { SteadyTables } from '../steady-tables.ts';
import { type AppendHits, type RestoredRows, SETTLE_MS } from './append-result.ts';
import { appendRows } from './append-rows.ts';
import { findLetterIds } from './imported-letters.ts';
import { waitUntilVisible } from './wait-until-stored.ts';

export interface RestoredRowsDeps {
  readonly eventLog: EventLog;
  readonly registry: Pick<Registry, 'tombstones'>;
  readonly tables: SteadyTables;
  readonly clock: () => number;
  /** See `AdminDeps` in control-deps.ts. */
  readonly insertsEnd: () => Promise<void>;
}

/** The maximum number of appended rows of one site that are not known to be in the tables. Their event IDs are kept in memory. */
const UNCONFIRMED_ROWS_MAX = 100_000;
/**
 * The maximum number of sites whose unconfirmed rows (`SiteRows`) are in memory. Those of the least recently used sites are removed, except while
 * an append runs or its result is unknown. After the removal, the next import into the site waits until the tables have all records.
 */
const SITES_MAX = 16;

/**
 * What this process knows about the rows of a site. The site has a row if the row is in the tables, if it became a dead letter that can be redriven
 * (docs/glossary.md), or if it was appended so recently that the tables may not have it yet (`unconfirmed`).
 */
interface SiteRows {
  readonly runExclusive: RunExclusive;
  running: number;
  /** The event IDs of rows that were appended since the tables last had all records of the log. Undefined if the IDs of these rows are not known. */
  unconfirmed: Set<string> | undefined;
  /** Before this time (Unix milliseconds), an append with an unknown result may still arrive in the log. */
  settledAt: number;
}

export function createRestoredRows(deps: RestoredRowsDeps): RestoredRows {
  const { registry, tables, clock } = deps;
  const erasures = createErasures((siteId) => registry.tombstones(siteId));
  const sites = new Map<string, SiteRows>();

  function rowsOf(siteId: string): SiteRows {
    const known = sites.get(siteId) ?? {
      runExclusive: createMutex(),
      running: 0,
      unconfirmed: undefined,
      settledAt: 0,
    };
    // Deleting and setting moves the site to the end of the map: `forgetUnused` removes the least recently used sites first.
    sites.delete(siteId);
    sites.set(siteId, known);
    return known;
  }

  function forgetUnused(): void {
    for (const [siteId, { running, settledAt }] of sites) {
      if (sites.size <= SITES_MAX) return;
      if (running === 0 && settledAt <= clock()) sites.delete(siteId);
    }
  }

  async function append(
    siteId: string,
    site: SiteRows,
    rows: readonly DumpedRow[],
  ): ReturnType<RestoredRows['append']> {
    const isFull = site.unconfirmed !== undefined && site.unconfirmed.size + rows.length > UNCONFIRMED_ROWS_MAX;
    if (site.unconfirmed === undefined || isFull) {
      if (clock() < site.settledAt || !(await waitUntilVisible(deps))) return 'behind';
      site.unconfirmed = new Set();
    }
    const { unconfirmed } = site;
    const stored = await storedIds(tables, siteId, rows);
    const letters = await findLetterIds(
      deps,
      siteId,
      rows.map(({ eventId }) => eventId),
    );
    const isKnown = ({ eventId }: DumpedRow): boolean =>
      stored.has(eventId) || unconfirmed.has(eventId) || letters.has(eventId);
    const missing = new Map<string, DumpedRow>();
    const erases = erasures(siteId);
    for (const row of rows) {
      // The enricher would drop these rows too. But their raw records would then stay in the archive, because the erasure that
      // would remove them is over.
      if (erases?.record(erasableRow(siteId, row))) continue;
      if (!isKnown(row)) missing.set(row.eventId, row);
    }
    // If the append rejects, `unconfirmed` stays undefined, because the rows may be in the log.
    site.unconfirmed = undefined;
    let appended: AppendHits = 'unknown';
    try {
      appended = await appendRows(deps, siteId, [...missing.values()]);
    } finally {
      site.settledAt = appended === 'unknown' ? clock() + SETTLE_MS : 0;
    }
    if (appended !== 'stored') return appended;
    for (const id of missing.keys()) unconfirmed.add(id);
    site.unconfirmed = unconfirmed;
    return missing.size;
  }

  return {
    async append(siteId, rows) {
      const site = rowsOf(siteId);
      site.running += 1;
      try {
        return await site.runExclusive(() => append(siteId, site, rows));
      } finally {
        site.running -= 1;
        forgetUnused();
      }
    },
  };
}

/**
 * Returns the event IDs of those rows that the tables have. Dead letters do not count here (see `findLetterIds`). Rows with the reason
 * `site_removed` do not count either: they were dropped when an earlier site with this ID was removed.
 */
async function storedIds(
  tables: SteadyTables,
  siteId: string,
  rows: readonly DumpedRow[],
): Promise<ReadonlySet<string>> {
  const times = rows.map(({ timestamp }) => timestamp);
  const query = `SELECT event_id AS id
    FROM records
    WHERE site_id = {site:String}
      AND ${rowsBetween('{first:Int64}', '{last:Int64} + 1')}
      AND event_id IN {ids:Array(String)} AND outcome != 'dead' AND reason != 'site_removed'`;
  const params = {
    site: siteId,
    first: Math.min(...times),
    last: Math.max(...times),
    ids: rows.map(({ eventId }) => eventId),
  };
  const found = await tables.read((stored) => stored.select<{ id: string }>(query, params));
  return new Set(found.map(({ id }) => id));
}

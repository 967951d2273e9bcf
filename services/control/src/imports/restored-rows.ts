import type { DumpedRow } from '@weir/domain/dump/dumped-row';
import type { EventLog } from '@weir/ports/event-log';
import { createMutex, type RunExclusive } from '../registry/mutex.ts';
import type { SteadyTables } from '../steady-tables.ts';
import { type RestoredRows, SETTLE_MS } from './append-result.ts';
import { appendRows } from './append-rows.ts';
import { waitUntilStored } from './wait-until-stored.ts';

export interface RestoredRowsDeps {
  readonly eventLog: EventLog;
  readonly tables: SteadyTables;
  readonly clock: () => number;
}

/** How far the log may be ahead of the tables with rows of dumps. */
const UNCONFIRMED_ROWS_MAX = 100_000;
/** Sites whose unconfirmed rows are kept. To forget them costs the next import a wait. */
const SITES_MAX = 16;
const WAIT_MS = 15_000;

/** The rows that a site has are those of the tables, and those that were appended since the tables had all of the log. */
interface SiteRows {
  readonly runExclusive: RunExclusive;
  running: number;
  /** Undefined: it is unknown what the log has beyond the tables. */
  unconfirmed: Set<string> | undefined;
  /** Until then an append with an unknown result may still arrive in the log. */
  settledAt: number;
}

export function createRestoredRows(deps: RestoredRowsDeps): RestoredRows {
  const { tables, clock } = deps;
  const sites = new Map<string, SiteRows>();

  function rowsOf(siteId: string): SiteRows {
    const known = sites.get(siteId) ?? {
      runExclusive: createMutex(),
      running: 0,
      unconfirmed: undefined,
      settledAt: 0,
    };
    // The map is in the order of the last use.
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
      if (clock() < site.settledAt || !(await waitUntilStored(deps, WAIT_MS))) return 'behind';
      site.unconfirmed = new Set();
    }
    const { unconfirmed } = site;
    const stored = await storedIds(tables, siteId, rows);
    const missing = new Map<string, DumpedRow>();
    for (const row of rows) {
      if (!stored.has(row.eventId) && !unconfirmed.has(row.eventId)) missing.set(row.eventId, row);
    }
    // Until the result is known, a failure leaves it unknown.
    site.unconfirmed = undefined;
    site.settledAt = clock() + SETTLE_MS;
    const appended = await appendRows(deps, siteId, [...missing.values()]);
    if (appended !== 'unknown') site.settledAt = 0;
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

/** Rows that were dropped because the site was removed do not count: a site of that name was made again. */
async function storedIds(
  tables: SteadyTables,
  siteId: string,
  rows: readonly DumpedRow[],
): Promise<ReadonlySet<string>> {
  const times = rows.map(({ timestamp }) => timestamp);
  const query = `SELECT event_id AS id
    FROM records
    WHERE site_id = {site:String}
      AND timestamp >= fromUnixTimestamp64Milli({first:Int64}) AND timestamp <= fromUnixTimestamp64Milli({last:Int64})
      AND event_id IN {ids:Array(String)} AND reason != 'site_removed'`;
  const params = {
    site: siteId,
    first: Math.min(...times),
    last: Math.max(...times),
    ids: rows.map(({ eventId }) => eventId),
  };
  const found = await tables.read((stored) => stored.select<{ id: string }>(query, params));
  return new Set(found.map(({ id }) => id));
}

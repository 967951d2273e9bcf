import type { Analytics } from '@weir/ports/analytics';
import type { Registry } from '@weir/ports/registry';
import type { Logger } from '@weir/runtime/logger';
import { createVisitCheckMetrics } from '@weir/runtime/metrics/control-metrics';
import type { Metrics } from '@weir/runtime/prometheus-metrics';
import { failureOf, type RepeatedWork, repeatWork } from '../background/repeat-work.ts';
import { tablesInUse } from '../retention/tables-in-use.ts';
import { flagDifferingVisits } from './flag-differing-visits.ts';
import { flagScatteredVisits } from './flag-scattered-visits.ts';
import { lastPositions, positionsBefore, type RawPositions, rowsAfter } from './rows-after.ts';

export interface VisitChecksDeps {
  readonly analytics: Pick<Analytics, 'select' | 'change'>;
  readonly registry: Registry;
  /** Resolves when the tables can be used. */
  readonly ready: Promise<void>;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly everyMs?: number;
}

const EVERY_MS = 3600_000;
/** The first check after a start begins with the rows that were received this long before the newest row. */
const FIRST_MS = 48 * 3600_000;
/**
 * Each later check also reads the rows that were received up to this long before the last check, because the last check left out visits that had just
 * received a row.
 */
const OVERLAP_MS = 30 * 60_000;

/**
 * Compares the stamps (docs/glossary.md) of the rows with `sessions`, for the days of the rows that were received lately (docs/decisions/0033). Also
 * looks for visits with rows far apart. Several processes can do this at the same time, because flagging a visit again changes nothing.
 */
export function startVisitChecks(deps: VisitChecksDeps): RepeatedWork {
  const { analytics, registry, clock, logger, everyMs = EVERY_MS } = deps;
  const metrics = createVisitCheckMetrics(deps.metrics);
  const stop = new AbortController();
  const { signal } = stop;
  /** The rows that the last check has read: up to these positions, except rows received after `until`. */
  let seen: { readonly positions: RawPositions; readonly until: number } | undefined;

  async function check(): Promise<void> {
    if (tablesInUse(registry) !== undefined) return;
    await deps.ready;
    const startedAt = clock();
    const positions = await lastPositions(analytics);
    const rows = await newRows();
    for (const { site, day } of await daysToCheck(rows)) {
      if (signal.aborted || tablesInUse(registry) !== undefined) return;
      const flagged = await flagDifferingVisits(analytics, site, day);
      metrics.flagged(flagged);
      if (flagged > 0) logger.warn({ site, day, flagged }, 'reports compute visits whose stamps differ from sessions');
    }
    const scattered = await flagScatteredVisits(analytics, rows);
    metrics.flagged(scattered);
    if (scattered > 0)
      logger.warn({ flagged: scattered }, 'reports read sessions on the days of visits with rows far apart');
    seen = { positions, until: startedAt - OVERLAP_MS };
  }

  /**
   * The SQL condition for the rows to check. It selects by the position in the log: rows can be stored hours after they were received, and rows of a
   * dump keep their time of receipt.
   */
  async function newRows(): Promise<string> {
    if (seen === undefined) return rowsAfter(await positionsBefore(analytics, FIRST_MS), false);
    return `(received_at >= fromUnixTimestamp64Milli(${seen.until}) OR ${rowsAfter(seen.positions, true)})`;
  }

  async function daysToCheck(rows: string): Promise<readonly { readonly site: string; readonly day: string }[]> {
    return analytics.select(
      `SELECT toString(site_id) AS site, toString(toDate(timestamp, 'UTC')) AS day FROM records
       WHERE outcome = 'row' AND visit_stamp = 1 AND ${rows} GROUP BY site, day ORDER BY day DESC, site`,
    );
  }

  return repeatWork(everyMs, stop, check, (error) => {
    logger.error(failureOf(error), 'the check of the visits stopped and will be tried again');
  });
}

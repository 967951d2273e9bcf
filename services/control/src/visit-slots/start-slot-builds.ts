import { setTimeout as pause } from 'node:timers/promises';
import { isDependencyError } from '@weir/domain/errors';
import type { Analytics } from '@weir/ports/analytics';
import type { Registry } from '@weir/ports/registry';
import type { Logger } from '@weir/runtime/logger';
import { createVisitSlotMetrics } from '@weir/runtime/metrics/control-metrics';
import type { Metrics } from '@weir/runtime/prometheus-metrics';
import { failureOf, problemText, type RepeatedWork, repeatWork } from '../background/repeat-work.ts';
import { dayOf } from '../reports/visits/visit-rows.ts';
import { tablesInUse } from '../retention/tables-in-use.ts';
import {
  type BuildContext,
  type BuildTables,
  type BuiltDays,
  buildDays,
  type DaysToBuild,
  daysOf,
  type FoundAhead,
  removeOldSlots,
} from './build-days.ts';
import { buildMonth, type MonthToBuild, monthsToBuild, removeOldMonths } from './build-months.ts';
import { LAST_CLOSED_DAY } from './built-run.ts';
import { compareDay, someBuiltDays, someReports } from './compare-reports.ts';
import { daysToBuild, sitesToBuild } from './days-to-build.ts';
import { DAY_MS } from './slot-sql.ts';

export interface SlotBuildsDeps {
  readonly analytics: BuildTables & Pick<Analytics, 'userQuery'>;
  readonly registry: Registry;
  /** Resolves when the tables can be used. */
  readonly ready: Promise<void>;
  readonly clock: () => number;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly everyMs?: number;
  /** Slots (docs/glossary.md) are built for sites with at least this many rows. Default: `SITE_ROWS_MIN`. */
  readonly siteRowsMin?: number;
  /** Months are built for sites with more slots than this. Default: `MONTH_SLOTS_MIN`. */
  readonly slotsMin?: number;
}

const EVERY_MS = 3600_000;
/** A day or month that could not be built is tried again after this time. */
const SKIPPED_MS = 24 * 3600_000;
/** The longest pause after a statement. A pause is as long as the statement took, so that ClickHouse can do other work. */
const REST_MAX_MS = 10_000;

class TablesChanged extends Error {}

/** Whether ClickHouse refuses this statement, for example because it exceeds its time limit. A repeat would be refused too. */
function isRefused(error: unknown): boolean {
  if (isDependencyError(error, 'analytics_refused')) return true;
  const text = isDependencyError(error, 'analytics_unavailable') ? error.message : '';
  return (
    /timeout exceeded/i.test(text) ||
    (/memory limit exceeded/i.test(text) && !/(?:user\)?|total\)) memory limit/i.test(text))
  );
}

/**
 * Builds the slots of the closed days (`CLOSED_AFTER_DAYS`), newest days first (docs/decisions/0047). Several processes can do this at the same time:
 * the last build of a day counts.
 */
export function startSlotBuilds(deps: SlotBuildsDeps): RepeatedWork {
  const { analytics, registry, clock, logger, everyMs = EVERY_MS, siteRowsMin, slotsMin } = deps;
  const metrics = createVisitSlotMetrics(deps.metrics);
  const stop = new AbortController();
  const { signal } = stop;
  /** For each site and day or month that could not be built: the time at which it was skipped. */
  const skipped = new Map<string, number>();
  const foundAhead: FoundAhead = new Map();

  async function change(statement: string): Promise<void> {
    const startedAt = clock();
    await analytics.change(statement);
    await pause(Math.min(clock() - startedAt, REST_MAX_MS), undefined, { signal });
  }
  /** A text that changes when an erasure, an expiry, a replay or a swap (docs/glossary.md) begins or ends, because these delete or exchange rows. */
  const stateOfRows = (): string =>
    JSON.stringify([registry.erasures(), registry.expiry()?.expiryId, registry.replay()?.state?.phase]);
  function newContext(): BuildContext {
    const before = stateOfRows();
    const assertUnchanged = (): void => {
      signal.throwIfAborted();
      if (tablesInUse(registry) !== undefined || registry.expiry() !== undefined || stateOfRows() !== before) {
        throw new TablesChanged('an erasure, an expiry or a replay began');
      }
    };
    return { analytics, clock, change, assertUnchanged };
  }

  async function buildAll(): Promise<void> {
    await deps.ready;
    for (const [key, at] of skipped) if (clock() - at >= SKIPPED_MS) skipped.delete(key);
    await removeEarly();
    const sites = await sitesToBuild(analytics, siteRowsMin);
    for (const siteId of sites) {
      const groups = await daysToBuild(analytics, siteId, (day) => skipped.has(`${siteId} ${day}`));
      for (const days of groups) await build(days);
      // An erasure or an expiry that begins from here on stops the builds.
      const context = newContext();
      for (const month of await monthsToBuild(context, siteId, slotsMin)) await buildMonthOf(month, context);
      await removeOld(siteId);
      await compareSomeDay(siteId).catch((error: unknown) => {
        if (!isRefused(error)) throw error;
        logger.error({ site: siteId, problem: problemText(error) }, 'the reports of a built day cannot be compared');
      });
    }
    // A site that now has fewer rows than `siteRowsMin` can have old slots too.
    const stored = await analytics.select<{ site: string }>(
      `SELECT toString(site_id) AS site FROM (SELECT site_id FROM visit_slots UNION DISTINCT SELECT site_id FROM visit_months) ORDER BY site`,
    );
    for (const { site } of stored) if (!sites.includes(site)) await removeOld(site);
    for (const site of foundAhead.keys()) if (stored.every((one) => one.site !== site)) foundAhead.delete(site);
  }

  /** Removes the builds of days that are not closed. They were made while a clock was ahead. Reports would read them as soon as the day is closed. */
  async function removeEarly(): Promise<void> {
    const [found] = await analytics.select<{ last: string }>(
      `SELECT toString(${LAST_CLOSED_DAY}) AS last FROM visit_days WHERE day > ${LAST_CLOSED_DAY} LIMIT 1`,
    );
    if (found === undefined) return;
    newContext().assertUnchanged();
    // The statement contains the day as a text, because ClickHouse refuses `now()` in a statement that changes replicated tables.
    await change(`ALTER TABLE visit_days DELETE WHERE day > '${found.last}'`);
  }

  async function removeOld(siteId: string): Promise<void> {
    newContext().assertUnchanged();
    await removeOldSlots(newContext(), siteId, foundAhead);
    await removeOldMonths(newContext(), siteId);
  }

  /**
   * Compares reports of a random built day from slots with the same reports from rows. If they differ, removes the build, so that reports read rows
   * until the day is built again.
   */
  async function compareSomeDay(siteId: string): Promise<void> {
    const context = newContext();
    const [dayMs] = await someBuiltDays(siteId, 1, analytics);
    const compared =
      dayMs === undefined ? undefined : await compareDay(siteId, dayMs, analytics, someReports(Math.random));
    context.assertUnchanged();
    if (compared === undefined || compared.differing.length === 0) return;
    const { day, differing } = compared;
    metrics.differed(differing.length);
    logger.error(
      { site: siteId, day, differing },
      'reports or sums of a month differ from the rows that they are made from: the day is built again',
    );
    // If only the sums of the month differ, a new build of the day makes the month invalid too, so that it is built again.
    await change(`ALTER TABLE visit_days DELETE WHERE site_id = '${siteId}' AND day = '${day}'`);
  }

  async function build(days: DaysToBuild): Promise<void> {
    const startedAt = clock();
    const refused = (error: unknown, consequence: string): void => {
      if (!isRefused(error)) throw error;
      logger.error({ site: days.siteId, problem: problemText(error) }, consequence);
    };
    const built = await buildDays(newContext(), days)
      .catch((error: unknown) => {
        // Anyone can send custom properties, so they must not prevent a build.
        refused(error, 'days cannot be built, they are tried without custom properties');
        return buildDays(newContext(), days, false);
      })
      .catch((error: unknown): BuiltDays => {
        // ClickHouse refuses the build, for example because a day needs too much memory. Other days can still be built.
        refused(error, 'days cannot be built, reports read their rows');
        return { days: 0, slots: 0, skipped: daysOf(days) };
      });
    for (const day of built.skipped) skipped.set(`${days.siteId} ${day}`, clock());
    metrics.built(built.days);
    const ms = clock() - startedAt;
    logger.debug({ site: days.siteId, days: built.days, rows: days.rows, slots: built.slots, ms }, 'days were built');
  }

  async function buildMonthOf(month: MonthToBuild, context: BuildContext): Promise<void> {
    const key = `${month.siteId} month ${month.hash}`;
    const about = { site: month.siteId, month: dayOf(month.first * DAY_MS) };
    if (skipped.has(key)) return;
    const fail = (problem: string): void => {
      skipped.set(key, clock());
      logger.error({ ...about, problem }, 'a month cannot be built, reports read its days');
    };
    const startedAt = clock();
    try {
      if (!(await buildMonth(context, month))) return fail('the rows that were built are not those of its days');
    } catch (error) {
      if (!isRefused(error)) throw error;
      return fail(problemText(error));
    }
    logger.debug({ ...about, slots: month.slots, ms: clock() - startedAt }, 'a month was built');
  }

  return repeatWork(everyMs, stop, buildAll, (error) => {
    if (error instanceof TablesChanged) return;
    logger.error(failureOf(error), 'building days for reports stopped and will be tried again');
  });
}

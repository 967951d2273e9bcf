import { expiresBefore, KEEP_KINDS, type Keep, keepOf } from '@weir/domain/registry/keep';
import type { Expiry } from '@weir/ports/registry';
import type { Logger } from '@weir/runtime/logger';
import type { RetentionMetrics } from '@weir/runtime/metrics/control-metrics';
import { isFree, Taken } from '../background/held-work.ts';
import { failureOf, type RepeatedWork, repeatWork } from '../background/repeat-work.ts';
import { liveAndShadow } from '../erasure/live-and-shadow.ts';
import { hasExpired } from './expire-tables.ts';
import { type ExpiryDeps, runExpiry } from './run-expiry.ts';
import { tablesInUse } from './tables-in-use.ts';

export interface StartRetentionDeps extends ExpiryDeps {
  /** Resolves when the tables can be used. */
  readonly ready: Promise<void>;
  /** True if this is the only process, because the event log is embedded. */
  readonly alone: boolean;
  /** A random ID of this process. */
  readonly workerId: string;
  /** The settings KEEP_EVENTS, KEEP_PROFILES and KEEP_ROLLUPS, for sites that do not set their own times. */
  readonly keep: Keep;
  readonly logger: Logger;
  readonly metrics: RetentionMetrics;
  readonly lookEveryMs?: number;
}

const LOOK_EVERY_MS = 60_000;
/** The maximum number of sites in one expiry, because their IDs are in one record of the registry and in each statement. */
const SITES_AT_ONCE_MAX = 1_000;

/** Removes the rows that the sites do not keep any longer, once a day and soon after a setting was changed. */
export function startRetention(deps: StartRetentionDeps): Pick<RepeatedWork, 'close'> {
  const { registry, clock, logger, workerId, lookEveryMs = LOOK_EVERY_MS } = deps;
  const stop = new AbortController();
  const { signal } = stop;
  /**
   * The groups of sites (as JSON, with their limits) without rows to remove. The limits change each day, so each group is
   * checked again on the next day.
   */
  let clean = new Set<string>();

  /** Groups the sites by their limits. The site ID '' stands for records without a site, which follow the setting for all sites. */
  function groups(): readonly Pick<Expiry, 'siteIds' | 'before'>[] {
    const found = new Map<string, { siteIds: string[]; before: Expiry['before'] }>();
    for (const site of [{ siteId: '' }, ...registry.sites()]) {
      const keep = keepOf(site, deps.keep);
      const limits = KEEP_KINDS.map((kind) => [kind, expiresBefore(keep[kind], clock())] as const);
      const before = Object.fromEntries(limits.filter(([, at]) => at !== undefined)) as Expiry['before'];
      const key = JSON.stringify(before);
      const group = found.get(key) ?? { siteIds: [], before };
      found.set(key, group);
      group.siteIds.push(site.siteId);
    }
    return [...found.values()].filter(({ before }) => Object.keys(before).length > 0).flatMap(inParts);
  }

  /** Resolves with false if no site has rows to remove. Otherwise stores an expiry, unless other work began meanwhile for which it must wait. */
  async function beginNext(): Promise<boolean> {
    const all = groups();
    const keys = all.map((group) => JSON.stringify(group));
    clean = new Set(keys.filter((key) => clean.has(key)));
    for (const [nth, group] of all.entries()) {
      const key = keys[nth] as string;
      if (clean.has(key)) continue;
      const expiry = await newExpiry(group);
      if (await isNeeded(expiry)) {
        // The queries above can take long, and another process can have begun an expiry meanwhile, and have inserted rows `expired`. If this expiry
        // replaced that one, these rows would be inserted twice, because each expiry has its own deduplication tokens.
        await registry.readToEnd();
        if (registry.expiry() === undefined && tablesInUse(registry) === undefined) await registry.putExpiry(expiry);
        return true;
      }
      clean.add(key);
    }
    return false;
  }

  async function newExpiry(group: Pick<Expiry, 'siteIds' | 'before'>): Promise<Expiry> {
    const { eventLog, analytics } = deps;
    const startedAt = clock();
    const ends: number[] = [];
    for (let partition = 0; partition < eventLog.partitionCount; partition++) {
      ends.push((await analytics.highestRawOffset(eventLog.logId, partition)) + 1);
    }
    return { ...group, expiryId: `expiry_${startedAt}_${workerId.slice(0, 8)}`, startedAt, phase: 'waiting', ends };
  }

  async function isNeeded(expiry: Expiry): Promise<boolean> {
    const { analytics, eventLog } = deps;
    for (const { name: database } of await liveAndShadow(analytics)) {
      if (await hasExpired({ analytics, expiry, logId: eventLog.logId, database })) return true;
    }
    return false;
  }

  async function workOff(): Promise<void> {
    await deps.ready;
    while (!signal.aborted) {
      if (registry.expiry() === undefined) {
        if (tablesInUse(registry) !== undefined) return;
        if (!(await beginNext())) {
          deps.metrics.done(clock());
          return;
        }
      }
      const expiry = registry.expiry();
      if (expiry === undefined || !isFree(expiry.worker, deps)) return;
      await runExpiry({ ...deps, signal });
      logger.info({ sites: expiry.siteIds.length }, 'expired rows were removed');
    }
  }

  // After a swap (docs/glossary.md), the tables can have rows that were already removed from the former tables. So all groups are checked again.
  const stopListening = registry.onReplayChange(() => {
    clean = new Set();
  });
  const repeated = repeatWork(lookEveryMs, stop, workOff, (error) => {
    if (error instanceof Taken) return;
    logger.error(failureOf(error), 'removing expired rows stopped and will be tried again');
  });
  registry.onChange(repeated.look);
  return {
    async close() {
      stopListening();
      await repeated.close();
    },
  };
}

function inParts({
  siteIds,
  before,
}: Pick<Expiry, 'siteIds' | 'before'>): readonly Pick<Expiry, 'siteIds' | 'before'>[] {
  const parts: Pick<Expiry, 'siteIds' | 'before'>[] = [];
  for (let from = 0; from < siteIds.length; from += SITES_AT_ONCE_MAX) {
    parts.push({ siteIds: siteIds.slice(from, from + SITES_AT_ONCE_MAX), before });
  }
  return parts;
}

import { setTimeout as pause } from 'node:timers/promises';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import type { Expiry, Registry } from '@weir/ports/registry';
import { REPORT_EVERY_MS, Taken } from '../background/held-work.ts';
import { liveAndShadow } from '../erasure/live-and-shadow.ts';
import { REGISTRY_LAG_MS, writersPauseEnds } from '../erasure/request-erasure.ts';
import { expireTables } from './expire-tables.ts';
import { tablesInUse } from './tables-in-use.ts';

export interface ExpiryDeps {
  readonly registry: Registry;
  readonly eventLog: EventLog;
  readonly analytics: Analytics;
  readonly clock: () => number;
}

export interface ExpiryWork extends ExpiryDeps {
  readonly workerId: string;
  readonly signal: AbortSignal;
  /** True if this is the only process, so no other process changes the registry. */
  readonly alone: boolean;
}

/**
 * If several processes store an expiry at the same moment, the last one in the registry counts. Each of them checked before that the registry had no
 * expiry, so after this time none of them can arrive any more: an append to the log ends within 1.7 s on Kafka, and its record can arrive 5 s later.
 */
const BEGIN_SETTLES_MS = 7_000 + REGISTRY_LAG_MS;
/** The longest pause after a statement. A pause is as long as the statement took, up to this time, so that ClickHouse can do other work. */
const REST_MAX_MS = 10_000;

/**
 * Carries out the expiry that is in the registry, even if another process has begun it, and then removes it from the registry. While the registry has
 * an expiry, no erasure, replay or backup begins. If one of these has begun at the same time, the expiry is cancelled. Rejects with `Taken` if
 * another process has taken over the expiry. After an error of a dependency, call it again.
 */
export async function runExpiry(work: ExpiryWork): Promise<void> {
  const { registry, analytics, eventLog, clock, workerId, signal, alone } = work;
  let writing: Promise<void> = Promise.resolve();

  function own(): Expiry {
    signal.throwIfAborted();
    const expiry = registry.expiry();
    if (expiry?.worker?.id !== workerId) throw new Taken();
    return expiry;
  }
  /**
   * Writes a change to the registry. Each write waits for the one before it. Otherwise the regular report (`reports`), which writes the whole expiry,
   * could overwrite a change.
   */
  function update(change: Partial<Expiry>): Promise<void> {
    const written = writing.then(() =>
      registry.putExpiry({ ...own(), ...change, worker: { id: workerId, at: clock() } }),
    );
    writing = written.catch(() => undefined);
    return written;
  }
  async function change(statement: string, token?: string): Promise<void> {
    await writersPauseEnds(registry, signal);
    own();
    const startedAt = clock();
    await analytics.change(statement, token);
    await pause(Math.min(clock() - startedAt, REST_MAX_MS), undefined, { signal });
  }

  const taken = registry.expiry();
  if (taken === undefined) return;
  await registry.putExpiry({ ...taken, worker: { id: workerId, at: clock() } });
  const reports = setInterval(() => void update({}).catch(() => undefined), REPORT_EVERY_MS);
  reports.unref();
  try {
    if (own().phase === 'waiting') {
      if (!alone) await pause(BEGIN_SETTLES_MS, undefined, { signal });
      if (tablesInUse(registry) !== undefined) return await registry.removeExpiry();
      await update({ phase: 'deleting' });
    }
    for (const { name: database } of await liveAndShadow(analytics)) {
      await expireTables({
        analytics,
        clock,
        database,
        logId: eventLog.logId,
        expiry: own(),
        startedAt: own().startedAt,
        change,
        lastBegun: () => own().chunk,
        begin: (chunk) => update({ chunk }),
      });
    }
    own();
    await writing;
    await registry.removeExpiry();
  } finally {
    clearInterval(reports);
    await writing;
  }
}

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import { openLmdbStateStore } from '@weir/adapters/lmdb/state/lmdb-state-store';
import { openLogRegistry } from '@weir/adapters/registry/log-registry';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import type { StateStore } from '@weir/ports/state-store';
import { SITE } from './bench-traffic.ts';

export interface Engines {
  readonly eventLog: EventLog;
  readonly stateStore: StateStore;
  /** The registry (the stored sites and keys). It contains the site of the benchmark. */
  readonly registry: Registry;
  close(): Promise<void>;
}

/** Opens the embedded engines in an empty folder, as `npm start` does, but with unlimited retention. */
export async function openEngines(folder: string, partitions: number): Promise<Engines> {
  const clock = Date.now;
  const retentionMs = () => Number.POSITIVE_INFINITY;
  const eventLog = await openLmdbEventLog({ folder: join(folder, 'log'), partitions, clock, retentionMs });
  const stateStore = await openLmdbStateStore({ folder: join(folder, 'state'), clock });
  const registry = await openLogRegistry({
    eventLog,
    clock,
    randomSalt: () => randomBytes(32).toString('hex'),
    onDamage(error) {
      throw error;
    },
  });
  await registry.putSite(SITE);
  return {
    eventLog,
    stateStore,
    registry,
    async close() {
      await registry.close();
      await stateStore.close();
      await eventLog.close();
    },
  };
}

/** The CPU time of this process during `work` (all threads), in microseconds. */
export async function cpuMicrosOf(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** Resolves when the group has committed the end of the topic. */
export async function caughtUp(eventLog: EventLog, topic: string, group: string, pollMs: number): Promise<void> {
  for (;;) {
    const positions = await eventLog.positions(topic, group);
    if (positions.every(({ end, committed }) => (committed ?? 0) === end)) return;
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

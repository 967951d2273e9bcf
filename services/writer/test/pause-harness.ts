import { randomBytes } from 'node:crypto';
import { openLogRegistry } from '@weir/adapters/registry/log-registry';
import type { PauseOwner } from '@weir/ports/registry';
import { useOpenedInEachTest } from '@weir/testkit/use-opened';
import { type Harness, openHarness, useEngine } from './writer-harness.ts';

/** Gives each test of a file a writer's harness whose log also has the registry, so that its writers can be paused. */
export function usePauses() {
  const engine = useEngine();
  const opened = useOpenedInEachTest(async () => {
    const harness = await openHarness(engine, { unknownSettlesMs: 0, pausedAlarmMs: 50 });
    const registry = await openLogRegistry({
      eventLog: harness.eventLog,
      clock: Date.now,
      randomSalt: () => randomBytes(32).toString('hex'),
    });
    return {
      harness,
      registry,
      async close() {
        await registry.close();
        await harness.close();
      },
    };
  });

  return {
    engine,
    get harness() {
      return opened.harness;
    },
    get registry() {
      return opened.registry;
    },
    deps: (owner: PauseOwner = 'swap') => ({
      ...{ eventLog: opened.harness.eventLog, registry: opened.registry },
      ...{ clock: Date.now, owner },
    }),
    start: (ports: Parameters<Harness['start']>[0] = {}) => opened.harness.start({ pauses: opened.registry, ...ports }),
  };
}

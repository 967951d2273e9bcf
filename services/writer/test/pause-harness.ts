import { randomBytes } from 'node:crypto';
import { openLogRegistry } from '@weir/adapters/registry/log-registry';
import type { PauseOwner, Registry } from '@weir/ports/registry';
import { type Engine, type Harness, openEngine, openHarness } from './writer-harness.ts';

/** Gives each test of a file a writer's harness whose log also has the registry, so that its writers can be paused. */
export function usePauses() {
  let engine: Engine;
  let harness: Harness;
  let registry: Registry;
  beforeAll(async () => {
    engine = await openEngine();
  }, 120_000);
  afterAll(() => engine.close());
  beforeEach(async () => {
    harness = await openHarness(engine, { unknownSettlesMs: 0, pausedAlarmMs: 50 });
    registry = await openLogRegistry({
      eventLog: harness.eventLog,
      clock: Date.now,
      randomSalt: () => randomBytes(32).toString('hex'),
    });
  });
  afterEach(async () => {
    await registry.close();
    await harness.close();
  });

  return {
    get engine() {
      return engine;
    },
    get harness() {
      return harness;
    },
    get registry() {
      return registry;
    },
    deps: (owner: PauseOwner = 'swap') => ({ eventLog: harness.eventLog, registry, clock: Date.now, owner }),
    start: (ports: Parameters<Harness['start']>[0] = {}) => harness.start({ pauses: registry, ...ports }),
  };
}

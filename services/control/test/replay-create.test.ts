import { DependencyError } from '@weir/domain/errors';
import { eventually } from '@weir/testkit/eventually';
import { openReplayHarness } from './replay-harness.ts';

const FAILURES = 3;

test('the shadow tables are created once, although a dependency fails after that', async () => {
  let failures = 0;
  const calls: string[] = [];
  const weir = await openReplayHarness(1, {
    leading: (deps) => ({
      ...deps,
      shadow: {
        ...deps.shadow,
        create: () => {
          calls.push('create');
          return deps.shadow.create();
        },
        drop: () => {
          calls.push('drop');
          return deps.shadow.drop();
        },
      },
      analytics: {
        ...deps.analytics,
        async highestRawOffset(logId, partition) {
          if (failures === FAILURES) return deps.analytics.highestRawOffset(logId, partition);
          failures++;
          throw new DependencyError('analytics_unavailable', 'ClickHouse does not answer');
        },
      },
    }),
  });
  try {
    expect((await weir.call('POST', '/replays', { from: 'raw' })).status).toBe(201);
    await weir.follows();
    expect({ failures, calls }).toEqual({ failures: FAILURES, calls: ['drop', 'create'] });
    expect(await weir.digests('weir_shadow')).toEqual(await weir.digests('weir'));
    await weir.drop();
  } finally {
    await weir.close();
  }
}, 240_000);

test('a process that has lost the election does not remove the shadow tables', async () => {
  let isLost = false;
  let refused = 0;
  const drops: boolean[] = [];
  const weir = await openReplayHarness(1, {
    leading: (deps) => ({
      ...deps,
      eventLog: {
        ...deps.eventLog,
        consume: (subscription) =>
          deps.eventLog.consume({
            ...subscription,
            open: (handle) =>
              subscription.open({
                ...handle,
                async commit(commit) {
                  if (isLost) refused++;
                  if (isLost) throw new DependencyError('partition_lost', 'another process is elected');
                  await handle.commit(commit);
                },
              }),
          }),
      },
      registry: {
        ...deps.registry,
        async putReplayState(state) {
          await deps.registry.putReplayState(state);
          if (state.phase === 'drop') isLost = true;
        },
      },
      shadow: {
        ...deps.shadow,
        drop() {
          drops.push(isLost);
          return deps.shadow.drop();
        },
      },
      raw: {
        ...deps.raw,
        async removeState() {
          await deps.raw.removeState();
          if (refused === 0) isLost = true;
        },
      },
    }),
  });
  /** Lets the process win the election again after it has noticed that it lost the former one. */
  async function noticed(times: number): Promise<void> {
    await eventually('a refused commit', async () => refused >= times);
    refused = times;
    isLost = false;
  }
  try {
    expect((await weir.call('POST', '/replays', { from: 'raw' })).status).toBe(201);
    await noticed(1);
    await weir.follows();
    await weir.call('DELETE', '/replays/current');
    await noticed(2);
    await weir.gone();
    expect(drops).toEqual([false, false]);
  } finally {
    isLost = false;
    await weir.close();
  }
}, 240_000);

import { DependencyError } from '@weir/domain/errors';
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

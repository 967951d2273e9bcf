import { randomBytes } from 'node:crypto';
import { requestErasure } from '@weir/control/erasure/request-erasure';
import { runErasure } from '@weir/control/erasure/run-erasure';
import { erasureSince } from '@weir/control/replay/erased-rows-of-log';
import type { ReplayState } from '@weir/domain/registry/replay';
import { useOpened } from '@weir/testkit/use-opened';
import { openReplayHarness } from '../replay-harness.ts';

jest.setTimeout(300_000);

const weir = useOpened(() => openReplayHarness(10));

test('an erasure changes no table while the writers pause, also if it began before this process knew of the pause', async () => {
  const { registry, analytics } = weir;
  // While the writers pause, the harness does not carry out erasures, so the test carries out this one itself.
  const pause = { swap: 1, owner: 'swap', requestedAt: weir.clock() } as const;
  await registry.putWritersPause({ ...pause, over: false });
  const request = { siteId: 'shop', visitors: [], users: ['user-1'], whole: false };
  const { erasureId = '' } = (await requestErasure({ ...weir, randomBytes } as never, request)) ?? {};

  let looks = 0;
  const looksAtChanges: number[] = [];
  await runErasure(
    {
      ...weir,
      registry: { ...registry, writersPause: () => ({ ...pause, over: ++looks > 3 }) },
      analytics: {
        ...analytics,
        change(...args) {
          looksAtChanges.push(looks);
          return analytics.change(...args);
        },
      },
      ...{ workerId: 'test', alone: true, signal: new AbortController().signal, detachedUntil: () => undefined },
    },
    erasureId,
  );
  expect(looksAtChanges.length).toBeGreaterThan(5);
  expect(Math.min(...looksAtChanges)).toBe(4);
  expect(registry.erasure(erasureId)?.phase).toBe('done');
  expect(await weir.count("SELECT count() AS n FROM records WHERE site_id = 'shop' AND user_id = 'user-1'")).toBe(0);
  await registry.putWritersPause({ ...pause, over: true });
});

test('an erasure ends after the start of a replay, also if the clock of the process with the replay is ahead', async () => {
  const { registry } = weir;
  // As above: the harness must not carry out the erasure.
  const pause = { swap: 2, owner: 'swap', requestedAt: weir.clock() } as const;
  await registry.putWritersPause({ ...pause, over: false });
  const startedAt = weir.clock() + 60_000;
  const replay = { request: { replayId: 'replay', from: 'enriched', startedAt } } as const;
  const request = { siteId: 'shop', visitors: ['visitor-2'], users: [], whole: false };
  const { erasureId = '' } = (await requestErasure({ ...weir, randomBytes } as never, request)) ?? {};
  const work = { workerId: 'test', alone: true, signal: new AbortController().signal, detachedUntil: () => undefined };
  const known = { ...registry, writersPause: () => undefined, replay: () => replay };
  await runErasure({ ...weir, ...work, registry: known }, erasureId);
  await registry.putWritersPause({ ...pause, over: true });
  expect(erasureSince(registry, { ...replay, state: {} as ReplayState })).toContain(erasureId);
});

import { DependencyError, type DependencyErrorCode } from '@weir/domain/errors';
import { eventually } from '@weir/testkit/eventually';
import { openReplayHarness, type ReplayHarness } from './replay-harness.ts';

/** The code of the error that a statement of the swap rejects with. */
let failsWith: DependencyErrorCode | undefined;
let failures = 0;
let weir: ReplayHarness;
beforeAll(async () => {
  weir = await openReplayHarness(10, {
    leading: (deps) => ({
      ...deps,
      analytics: {
        ...deps.analytics,
        async change(statement, params) {
          if (failsWith !== undefined && statement.includes('INSERT INTO weir_shadow.visits_computed')) {
            failures++;
            throw new DependencyError(failsWith, 'the statement failed');
          }
          return deps.analytics.change(statement, params);
        },
      },
    }),
  });
});
afterAll(() => weir.close());
beforeEach(async () => {
  failures = 0;
  await weir.call('POST', '/replays', { from: 'enriched' });
  await weir.follows();
});
afterEach(async () => {
  failsWith = undefined;
  await eventually('the end of the swap', async () => (await weir.current()).body.data.phase !== 'swap');
  await weir.drop();
});

const swap = () => weir.call('POST', '/replays/current/swap');
const refused = () => eventually('a refusal', async () => (await weir.current()).body.data.refusal ?? undefined);
const swapped = () => eventually('the phase swapped', async () => (await weir.current()).body.data.phase === 'swapped');

test('an error of a statement refuses the swap, and the writers continue', async () => {
  failsWith = 'analytics_refused';
  await swap();
  expect(await refused()).toBe('the swap failed before tables were exchanged: analytics_refused: the statement failed');
  expect((await weir.current()).body.data.phase).toBe('follow');
  expect([failures, weir.registry.writersPause()]).toEqual([1, expect.objectContaining({ over: true })]);
  await weir.visits(3);

  failsWith = undefined;
  await swap();
  await swapped();
});

test('a swap waits for ClickHouse for at most a minute after the writers paused', async () => {
  failsWith = 'analytics_unavailable';
  await swap();
  await eventually('another attempt', async () => failures > 1);
  for (const wish of ['swap', 'undo']) {
    const { status, body } = await weir.call('POST', `/replays/current/${wish}`);
    expect([status, body.error.message]).toEqual([409, expect.stringContaining('the tables are being exchanged')]);
  }
  failsWith = undefined;
  await swapped();
  await weir.drop();

  await weir.call('POST', '/replays', { from: 'enriched' });
  await weir.follows();
  failsWith = 'analytics_unavailable';
  failures = 0;
  await swap();
  await eventually('another attempt', async () => failures > 1);
  expect(weir.registry.writersPause()).toMatchObject({ over: false });
  weir.advance(60_000);
  expect(await refused()).toContain('analytics_unavailable: the statement failed');
  expect(weir.registry.writersPause()).toMatchObject({ over: true });
});

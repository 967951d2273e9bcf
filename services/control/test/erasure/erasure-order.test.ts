import { setImmediate as turn } from 'node:timers/promises';
import { type StartErasuresDeps, startErasures } from '@weir/control/erasure/start-erasures';
import { DependencyError } from '@weir/domain/errors';
import type { Erasure } from '@weir/ports/registry';

const asked = { siteId: 's', whole: true, visitors: 0, users: 0, phase: 'waiting', removed: {}, begun: {} } as const;

/**
 * Starts the work on these erasures. `put` is called for each change of an erasure. Returns a function that makes the work continue and waits for it.
 */
function start(
  erasures: readonly Erasure[],
  clock: () => number,
  put: (erasure: Erasure) => Promise<void>,
  further: Partial<StartErasuresDeps> = {},
) {
  const registry = {
    erasures: () => erasures,
    erasure: (id: string) => erasures.find(({ erasureId }) => erasureId === id),
    putErasure: put,
    writersPause: () => undefined,
    expiry: () => undefined,
    onChange: () => undefined,
  };
  const logger = { error: () => undefined };
  const metrics = { failing: () => undefined };
  const deps = { registry, clock, alone: false, workerId: 'own', ready: Promise.resolve(), logger, metrics };
  const { look } = startErasures({ ...deps, ...further } as unknown as StartErasuresDeps);
  return async () => {
    look();
    for (let nth = 0; nth < 5; nth++) await turn();
  };
}

test.each([
  ['another living process', 99_000, []],
  ['a process that has ended', 60_000, ['first']],
  ['a living process whose clock is a minute ahead', 160_000, []],
  ['a process that has ended, and whose clock was a day ahead', 86_500_000, ['first']],
])('while %s carries out an erasure, no other erasure begins', async (_name, at, begun) => {
  const erasures: readonly Erasure[] = [
    { ...asked, erasureId: 'first', at: 1 },
    { ...asked, erasureId: 'second', at: 2, worker: { id: 'other', at } },
  ];
  const changed: string[] = [];
  const work = start(
    erasures,
    () => 100_000,
    ({ erasureId }) => {
      changed.push(erasureId);
      return new Promise<void>(() => undefined);
    },
  );
  await work();
  expect(changed).toEqual(begun);
});

describe('erasures that fail', () => {
  let now = 100_000;
  beforeEach(() => {
    jest.spyOn(performance, 'now').mockImplementation(() => now);
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  const unavailable = () => new DependencyError('event_log_unavailable', 'no answer');

  test('do not take the turns of others, even if each attempt takes longer than the pause', async () => {
    const erasures = ['a', 'b', 'c'].map((id, at) => ({ ...asked, siteId: id, erasureId: id, at }));
    const begun: string[] = [];
    const work = start(
      erasures,
      () => now,
      ({ erasureId, problem }) => {
        if (problem !== undefined) return Promise.resolve();
        begun.push(erasureId);
        now += 60_000;
        return begun.length < 9 ? Promise.reject(unavailable()) : new Promise(() => undefined);
      },
    );
    await work();
    expect(begun).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c']);
  });

  test('are retried before another process takes this process for lost', async () => {
    const begun: number[] = [];
    const work = start(
      [{ ...asked, erasureId: 'failing', at: 1 }],
      () => now,
      ({ problem }) => {
        if (problem !== undefined) return Promise.resolve();
        begun.push(now);
        return Promise.reject(unavailable());
      },
    );
    for (let second = 0; second < 120; second++) {
      await work();
      now += 1_000;
    }
    const pauses = begun.slice(1).map((at, nth) => at - (begun[nth] ?? 0));
    expect(Math.max(...pauses)).toBeLessThan(25_000);
    expect(Math.min(...pauses)).toBeLessThan(3_000);
  });

  /** Attempts an erasure twice, and returns the values that the metric of failing erasures had. Then removes the erasure, and expects the value 0. */
  async function countsOf(asked: Erasure, further: Partial<StartErasuresDeps>, put: () => Promise<void>) {
    const erasures = [asked];
    const counts = new Set<number>();
    const change = async (erasure: Erasure): Promise<void> => {
      if (erasure.problem === undefined) await put();
      erasures[0] = erasure;
    };
    const metrics = { failing: (count: number) => void counts.add(count) };
    const work = start(erasures, () => now, change, { ...further, metrics });
    for (let nth = 0; nth < 2; nth++) {
      await work();
      now += 60_000;
    }
    expect(erasures[0]?.problem).toBeDefined();
    const seen = [...counts];
    erasures.length = 0;
    counts.clear();
    await work();
    expect([...counts]).toEqual([0]);
    return seen;
  }

  test('are counted until they are done', async () => {
    const failing: Erasure = { ...asked, erasureId: 'failing', at: 1 };
    expect(await countsOf(failing, {}, () => Promise.reject(unavailable()))).toEqual([0, 1]);
  });

  test('are not counted while they only wait for the archiver', async () => {
    const waiting: Erasure = { ...asked, erasureId: 'waiting', at: 1, phase: 'archive', archiveEnds: { topic: [1] } };
    const eventLog = { positions: async () => [{ partition: 0, committed: 0 }] };
    const further = { archive: {}, eventLog } as unknown as Partial<StartErasuresDeps>;
    expect(await countsOf(waiting, further, () => Promise.resolve())).toEqual([0]);
  });
});

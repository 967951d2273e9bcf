import { createReplayGate, type ReplayGate } from '../src/replay/replay-gate.ts';

const never = new AbortController().signal;

test('nothing passes an end, and everything below it does', async () => {
  const gate = createReplayGate(undefined, Date.now);
  gate.setEnds([3, 0]);
  expect(await gate.admit(0, [0, 1, 2, 3, 4], never)).toBe(3);
  expect(await gate.admit(0, [2, 1, 2], never)).toBe(3);
  const waits = gate.admit(1, [0, 1], never);
  gate.setEnds([3, 1]);
  expect(await waits).toBe(1);
});

test('nothing passes while there is an obstacle, or after an abort', async () => {
  const gate = createReplayGate(undefined, Date.now);
  gate.setEnds([10]);
  gate.setObstacle('live records wait');
  const waits = gate.admit(0, [0], never);
  expect(gate.obstacle()).toBe('live records wait');
  gate.setObstacle(undefined);
  expect(await waits).toBe(1);
  const stop = new AbortController();
  gate.setObstacle('live records wait');
  const aborted = [gate.admit(0, [0], stop.signal), gate.pass(5, stop.signal)];
  stop.abort();
  expect(await Promise.all(aborted)).toEqual([0, false]);
});

test('a rate admits a tenth of a second at a time, and charges a whole chunk at once', async () => {
  let now = 0;
  const gate = createReplayGate(100, () => now);
  gate.setEnds([1000]);
  const offsets = Array.from({ length: 50 }, (_, offset) => offset);
  expect(await gate.admit(0, offsets, never)).toBe(10);
  const later = gate.admit(0, offsets, never);
  now = 99;
  gate.setEnds([1000]);
  now = 100;
  expect(await later).toBe(10);
  now = 200;
  expect(await gate.pass(500, never)).toBe(true);
  now = 5_200;
  expect(await gate.admit(0, [7], never)).toBe(1);
});

test('more records are expected from the first admitted record up to the end', async () => {
  const gate = createReplayGate(undefined, Date.now);
  gate.setEnds([4]);
  expect(gate.expectsMore(0)).toBe(false);
  await gate.admit(0, [0, 1, 2], never);
  expect(gate.expectsMore(0)).toBe(true);
  await gate.admit(0, [2, 3], never);
  expect(gate.expectsMore(0)).toBe(false);
  gate.setEnds([5]);
  expect(gate.expectsMore(0)).toBe(true);
});

describe('beside live records', () => {
  const offsets = Array.from({ length: 1000 }, (_, offset) => offset);
  let now = 0;

  beforeEach(() => {
    now = 0;
  });

  function openGate({ perSecond, besideLive = true }: { perSecond?: number; besideLive?: boolean } = {}) {
    const gate = createReplayGate(perSecond, () => now);
    gate.setEnds([1_000_000]);
    gate.setBesideLive(besideLive);
    return gate;
  }

  const takes = (ms: number) => async (): Promise<void> => {
    now += ms;
  };

  /** Resolves when everything is done that does not wait for a timer. */
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  /** Sets the clock, and makes the gate look at it. */
  async function setClock(gate: ReplayGate, ms: number): Promise<void> {
    await turn();
    now = ms;
    gate.setObstacle(undefined);
  }

  /** Resolves with true if the promise has resolved, and with false if it is pending. Rejects if it has rejected. Does not wait for a timer. */
  const hasResolved = (promise: Promise<unknown>): Promise<boolean> =>
    Promise.race([promise.then(() => true), turn().then(() => false)]);

  test('256 records are admitted at a time, and after them twice the time of their work passes', async () => {
    const gate = openGate();
    expect(await gate.admit(0, offsets, never)).toBe(256);
    await gate.slice(takes(500));
    const next = gate.admit(0, offsets, never);
    await setClock(gate, 1_499);
    expect(await hasResolved(next)).toBe(false);
    await setClock(gate, 1_500);
    expect(await next).toBe(256);
    expect(gate.slowdown()).toBe(3);
  });

  test('one slice is processed at a time, but it does not stop the other partitions for more than 250 ms', async () => {
    const gate = openGate();
    expect(await gate.admit(0, offsets, never)).toBe(256);
    const next = gate.admitOutcomes(1000, never);
    expect(await hasResolved(next)).toBe(false);
    await setClock(gate, 249);
    expect(await hasResolved(next)).toBe(false);
    await setClock(gate, 250);
    expect(await next).toBe(256);
  });

  test('a statement begins at once, resolves after its rest, and no records are admitted in the meantime', async () => {
    const gate = openGate();
    const statement = gate.statement(async () => {
      now += 1_000;
      return 'rows';
    });
    const next = gate.admit(0, offsets, never);
    await setClock(gate, 2_999);
    expect([await hasResolved(statement), await hasResolved(next)]).toEqual([false, false]);
    await setClock(gate, 3_000);
    expect([await statement, await next]).toEqual(['rows', 256]);
  });

  test('the rests of concurrent statements follow one another, but take at most 4 s', async () => {
    const gate = openGate();
    const first = gate.statement(takes(60_000));
    await turn();
    const second = gate.statement(takes(1_000));
    await setClock(gate, 64_000);
    expect([await hasResolved(first), await hasResolved(second)]).toEqual([true, false]);
    await setClock(gate, 64_999);
    expect(await hasResolved(second)).toBe(false);
    await setClock(gate, 65_000);
    await second;
  });

  test('a statement that fails rests too', async () => {
    const gate = openGate();
    const statement = gate.statement(async () => {
      now += 1_000;
      throw new Error('refused');
    });
    const outcome = statement.catch((error: Error) => error.message);
    await setClock(gate, 2_999);
    expect(await hasResolved(outcome)).toBe(false);
    await setClock(gate, 3_000);
    expect(await outcome).toBe('refused');
  });

  test('a slice that waits for a statement does not rest for it a second time', async () => {
    const gate = openGate();
    expect(await gate.admit(0, offsets, never)).toBe(256);
    const slice = gate.slice(async () => {
      now += 10;
      await gate.statement(takes(1_000));
    });
    await setClock(gate, 3_010);
    await slice;
    const next = gate.admit(0, offsets, never);
    await setClock(gate, 3_029);
    expect(await hasResolved(next)).toBe(false);
    await setClock(gate, 3_030);
    expect(await next).toBe(256);
  });

  test('an abort ends a rest at once, and so does the end of live records', async () => {
    const gate = openGate();
    const stop = new AbortController();
    const aborted = gate.statement(takes(1_000), stop.signal);
    expect(await hasResolved(aborted)).toBe(false);
    stop.abort();
    await aborted;
    const statement = gate.statement(takes(1_000));
    const next = gate.admit(0, offsets, never);
    expect(await hasResolved(statement)).toBe(false);
    gate.setBesideLive(false);
    await statement;
    expect(await next).toBe(1000);
  });

  test('an aborted replay is not admitted after a rest', async () => {
    const gate = openGate();
    const stop = new AbortController();
    await gate.admit(0, offsets, never);
    await gate.slice(takes(1_000));
    const next = [gate.admit(0, offsets, stop.signal), gate.admitOutcomes(5, stop.signal)];
    stop.abort();
    expect(await Promise.all(next)).toEqual([0, 0]);
  });

  test('a clock that is set back does not make a rest longer', async () => {
    const gate = openGate();
    now = 3_600_000;
    await gate.admit(0, offsets, never);
    await gate.slice(takes(1_000));
    now = 0;
    expect(await gate.admit(0, offsets, never)).toBe(256);
  });

  test.each([
    ['without live records', { besideLive: false }, 1000],
    ['with a rate', { perSecond: 50_000 }, 1000],
  ])('%s there is no rest, and a delivery is not divided', async (_, options, count) => {
    const gate = openGate(options);
    expect(await gate.admit(0, offsets, never)).toBe(count);
    await gate.slice(takes(1_000));
    await gate.statement(takes(1_000));
    expect(await gate.admit(0, offsets, never)).toBe(count);
    expect(await gate.admitOutcomes(1000, never)).toBe(1000);
    expect(gate.slowdown()).toBe(1);
  });
});

import { createReplayGate } from '../src/replay/replay-gate.ts';

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

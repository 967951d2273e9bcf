import { eventually } from '@weir/testkit/eventually';
import { returnFreedMemory } from '../src/memory/return-freed-memory.ts';

test('returns freed memory while the process has more than its limit', async () => {
  let used = 200;
  const purges: number[] = [];
  const timer = returnFreedMemory({
    memoryBytes: 100,
    used: () => used,
    async purge() {
      purges.push(used);
      used -= 60;
    },
  });
  try {
    await eventually('the memory to be below the limit', () => used <= 100);
    expect(purges).toEqual([200, 140]);
    used = 150;
    await eventually('another purge', () => purges.length > 2);
    expect(purges).toEqual([200, 140, 150]);
  } finally {
    clearInterval(timer);
  }
});

test('rests after a call that returned nothing', async () => {
  jest.useFakeTimers();
  let purges = 0;
  const timer = returnFreedMemory({
    memoryBytes: 100,
    used: () => 200,
    async purge() {
      purges += 1;
    },
  });
  try {
    await jest.advanceTimersByTimeAsync(1_000);
    expect(purges).toBe(1);
    await jest.advanceTimersByTimeAsync(1_000);
    expect(purges).toBe(2);
  } finally {
    clearInterval(timer);
    jest.useRealTimers();
  }
});

test('returns freed memory once when the process is idle after a change', async () => {
  jest.useFakeTimers();
  const MEGABYTES = 1024 * 1024;
  let used = 80 * MEGABYTES;
  const purges: number[] = [];
  const timer = returnFreedMemory({
    memoryBytes: 1000 * MEGABYTES,
    used: () => used,
    async purge() {
      purges.push(used / MEGABYTES);
      used -= 20 * MEGABYTES;
    },
  });
  try {
    await jest.advanceTimersByTimeAsync(9_000);
    expect(purges).toEqual([]);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(purges).toEqual([80]);
    for (let second = 0; second < 30; second += 1) {
      used += 10 * MEGABYTES;
      await jest.advanceTimersByTimeAsync(1_000);
    }
    expect(purges).toEqual([80]);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(purges).toEqual([80, 360]);
  } finally {
    clearInterval(timer);
    jest.useRealTimers();
  }
});

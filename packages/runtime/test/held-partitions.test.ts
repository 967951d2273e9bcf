import type { PartitionHandle } from '@weir/ports/event-log';
import { createHeldPartitions } from '../src/held-partitions.ts';

function handleOf(partition: number) {
  const stop = new AbortController();
  const handle: PartitionHandle = {
    topic: 't',
    partition,
    committed: { offset: 7, metadata: '' },
    signal: stop.signal,
    commit: async () => undefined,
    seek: () => undefined,
  };
  return { handle, takeAway: () => stop.abort() };
}

test('a partition that is taken away is forgotten, also where it was never opened', () => {
  const released: number[] = [];
  const held = createHeldPartitions(
    () => 0,
    (partition) => released.push(partition),
  );
  const [one, zero] = [handleOf(1), handleOf(0)];
  held.taken(one.handle).failed('not open yet');
  held.taken(zero.handle);
  expect(held.status().map(({ partition, nextOffset }) => [partition, nextOffset])).toEqual([
    [0, 7],
    [1, 7],
  ]);
  one.takeAway();
  expect(held.status().map(({ partition }) => partition)).toEqual([0]);
  expect(held.progressOf(1)).toBeUndefined();
  expect(released).toEqual([1]);
});

test('tries of one opening share their progress: an alarm is new once', () => {
  const held = createHeldPartitions(
    () => 0,
    () => undefined,
  );
  const { handle } = handleOf(0);
  expect(held.taken(handle).raise('damaged')).toBe(true);
  expect(held.taken(handle).raise('damaged')).toBe(false);
  expect(held.taken(handleOf(0).handle).status().alarm).toBeUndefined();
});

test('the end of an older handle takes nothing from the newer one', () => {
  const released: number[] = [];
  const held = createHeldPartitions(
    () => 0,
    (partition) => released.push(partition),
  );
  const old = handleOf(0);
  held.taken(old.handle);
  held.taken(handleOf(0).handle);
  old.takeAway();
  expect(held.status()).toHaveLength(1);
  expect(released).toEqual([]);
});

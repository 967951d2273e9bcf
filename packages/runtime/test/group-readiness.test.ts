import { createGroupReadiness, REJOIN_MAX_MS } from '../src/consume/group-readiness.ts';

test('a role is not ready until it has joined its group, however long that takes', () => {
  let now = 0;
  let joined = false;
  const ready = createGroupReadiness(
    () => joined,
    () => now,
  );
  expect(ready()).toBe(false);
  now = 10 * REJOIN_MAX_MS;
  expect(ready()).toBe(false);
  joined = true;
  expect(ready()).toBe(true);
});

test('a role that has joined stays ready during a rebalance, unless the rebalance takes too long', () => {
  let now = 0;
  let joined = true;
  const ready = createGroupReadiness(
    () => joined,
    () => now,
  );
  expect(ready()).toBe(true);
  joined = false;
  now = 1_000_000;
  expect(ready()).toBe(true);
  now += REJOIN_MAX_MS - 1;
  expect(ready()).toBe(true);
  now += 1;
  expect(ready()).toBe(false);
  joined = true;
  expect(ready()).toBe(true);
  joined = false;
  expect(ready()).toBe(true);
});

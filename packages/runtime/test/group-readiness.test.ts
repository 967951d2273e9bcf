import { createGroupReadiness, REJOIN_MAX_MS } from '../src/consume/group-readiness.ts';

test('not ready before the group was joined, however long that takes', () => {
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

test('ready while a group that was joined shares its partitions out anew, and not when that takes too long', () => {
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

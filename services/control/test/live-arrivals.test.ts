import { createLiveArrivals } from '../src/replay/live-lag.ts';

test('live records arrive from the first change of an end until 5 s after the last one', async () => {
  let now = 0;
  let admitted = 0;
  let ends = [7, 0];
  const arrive = createLiveArrivals(
    {
      positions: async () =>
        ends.map((end, partition) => ({ partition, first: 0, end, committed: undefined, metadata: undefined })),
    },
    () => now,
  );
  const look = (): Promise<boolean> => {
    admitted += 1_000;
    return arrive(admitted);
  };
  expect(await look()).toBe(false);
  expect(await look()).toBe(false);
  ends = [7, 1];
  expect(await look()).toBe(true);
  now = 4_999;
  expect(await look()).toBe(true);
  now = 5_000;
  expect(await look()).toBe(false);
  ends = [8, 1];
  expect(await look()).toBe(true);
});

test('a replay that hardly gains on the live records does not rest', async () => {
  let now = 0;
  let end = 0;
  const positions = async () => [{ partition: 0, first: 0, end, committed: undefined, metadata: undefined }];
  const rests = createLiveArrivals({ positions }, () => now);
  const second = (admitted: number): Promise<boolean> => {
    now += 1_000;
    end += 100;
    return rests(admitted);
  };
  await rests(0);
  for (let nth = 1; nth <= 4; nth++) expect(await second(0)).toBe(true);
  expect(await second(1_499)).toBe(false);
  expect(await second(1_800)).toBe(true);
  expect(await second(1_801)).toBe(false);
  // Another replay begins, so the number of its admitted records begins at 0 again.
  expect(await second(0)).toBe(true);
});

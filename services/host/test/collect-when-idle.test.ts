import { eventually } from '@weir/testkit/eventually';
import { startFlags } from '@weir/testkit/weir-process';
import { collectWhenIdle } from '../src/watch/collect-when-idle.ts';

const BUSY = 0.5;
const IDLE = 0.01;
let closing = (): void => undefined;
afterEach(() => closing());

/** Looks once per share. Resolves with the number of collections after each look, and the number of collections before each call of `trim`. */
async function workAfter(
  shares: readonly number[],
): Promise<{ collections: readonly number[]; trimsAfter: readonly number[] }> {
  const counts: number[] = [];
  const trimsAfter: number[] = [];
  let collections = 0;
  let looks = 0;
  const watching = collectWhenIdle({
    collect() {
      collections += 1;
    },
    async trim() {
      trimsAfter.push(collections);
    },
    busyShare() {
      if (looks > 0) counts.push(collections);
      looks += 1;
      return shares[looks - 1] ?? BUSY;
    },
    lookEveryMs: 1,
  });
  closing = () => watching.close();
  await eventually('all looks', async () => counts.length >= shares.length);
  return { collections: counts.slice(0, shares.length), trimsAfter };
}

test('collects twice when the thread is idle after the start, and twice after more work', async () => {
  const shares = [BUSY, ...Array(6).fill(IDLE), BUSY, BUSY, ...Array(6).fill(IDLE)];
  const { collections, trimsAfter } = await workAfter(shares);
  expect(collections).toEqual([0, 0, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 4, 4, 4]);
  expect(trimsAfter).toEqual([2, 4]);
});

test('collects after a start without work', async () => {
  const { collections, trimsAfter } = await workAfter(Array(6).fill(IDLE));
  expect(collections).toEqual([0, 1, 1, 2, 2, 2]);
  expect(trimsAfter).toEqual([2]);
});

test('does not collect while the thread works now and then', async () => {
  const { collections, trimsAfter } = await workAfter([BUSY, IDLE, BUSY, IDLE, BUSY]);
  expect(collections).toEqual([0, 0, 0, 0, 0]);
  expect(trimsAfter).toEqual([]);
});

test('the share of a thread that computes is above that of an idle thread', async () => {
  let collections = 0;
  const watching = collectWhenIdle({ collect: () => (collections += 1), lookEveryMs: 50 });
  closing = () => watching.close();
  await eventually('a collection of the idle thread', async () => collections === 2);
  const until = performance.now() + 100;
  while (performance.now() < until);
  await eventually('a collection after work', async () => collections === 4);
});

test('npm start lets the threads collect garbage', () => {
  expect(startFlags()).toContain('--expose-gc');
});

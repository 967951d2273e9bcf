import { eventually } from '@weir/testkit/eventually';
import { startFlags } from '@weir/testkit/weir-process';
import { collectWhenIdle } from '../src/watch/collect-when-idle.ts';

const BUSY = 0.5;
const IDLE = 0.01;
let closing = (): void => undefined;
afterEach(() => closing());

/** Looks once per share. Resolves with the number of collections after each look. */
async function collectionsAfter(shares: readonly number[]): Promise<readonly number[]> {
  const counts: number[] = [];
  let collections = 0;
  let looks = 0;
  const watching = collectWhenIdle({
    collect() {
      collections += 1;
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
  return counts.slice(0, shares.length);
}

test('collects twice when the thread is idle after the start, and twice after more work', async () => {
  const shares = [BUSY, ...Array(6).fill(IDLE), BUSY, BUSY, ...Array(5).fill(IDLE)];
  expect(await collectionsAfter(shares)).toEqual([0, 0, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 4, 4]);
});

test('collects after a start without work', async () => {
  expect(await collectionsAfter(Array(6).fill(IDLE))).toEqual([0, 1, 1, 2, 2, 2]);
});

test('does not collect while the thread works now and then', async () => {
  expect(await collectionsAfter([BUSY, IDLE, BUSY, IDLE, BUSY])).toEqual([0, 0, 0, 0, 0]);
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

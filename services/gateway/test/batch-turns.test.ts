import { setImmediate as nextTurn } from 'node:timers/promises';
import { createBatchTurns } from '../src/admission/batch-turns.ts';

/** Starts the batches of these keys at once. Returns an array to which each key is added when its batch is processed. */
function start(keys: readonly string[]): string[] {
  const turns = createBatchTurns();
  const order: string[] = [];
  for (const key of keys) void turns.next(key).then(() => order.push(key));
  return order;
}

it('the first batch does not wait', async () => {
  const order = start(['a']);
  await Promise.resolve();
  expect(order).toEqual(['a']);
});

it('each turn of the event loop processes one batch', async () => {
  const order = start(['a', 'a', 'a']);
  for (const count of [1, 2, 3]) {
    await Promise.resolve();
    expect(order).toHaveLength(count);
    await nextTurn();
  }
});

it('keys take turns, however many batches one of them has sent before', async () => {
  const order = start(['a', 'a', 'a', 'a', 'b', 'c', 'b']);
  while (order.length < 7) await nextTurn();
  expect(order).toEqual(['a', 'a', 'b', 'c', 'a', 'b', 'a']);
});

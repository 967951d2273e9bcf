import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { objectContent } from '../../src/object-store/object-content.ts';

const STALLED_MS = 1_000;
const PIECE = Buffer.alloc(64 * 1024);

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

/** Waits until the stream stops working: its buffer is full, or it waits for bytes. */
async function settled(): Promise<void> {
  for (let nth = 0; nth < 50; nth++) await turn();
}

test('content fails if no byte arrives for `stalledMs` while a reader waits', async () => {
  const silent = new Readable({ read: () => undefined });
  const read = buffer(objectContent(silent, (error) => error, STALLED_MS)).catch((error: Error) => error.message);
  await settled();
  jest.advanceTimersByTime(STALLED_MS);
  expect(await read).toBe('no byte arrived for 1 s');
});

test('a reader can pause for longer than `stalledMs`', async () => {
  const pieces = Array.from({ length: 20 }, () => PIECE);
  const content = objectContent(Readable.from(pieces), (error) => error, STALLED_MS);
  const reader = content[Symbol.asyncIterator]();
  let length = (await reader.next()).value.length;
  await settled();
  jest.advanceTimersByTime(10 * STALLED_MS);
  for await (const piece of { [Symbol.asyncIterator]: () => reader }) length += piece.length;
  expect(length).toBe(pieces.length * PIECE.length);
});

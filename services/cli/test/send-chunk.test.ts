import { AdminRefusal, ConnectionCut } from '@weir/cli/admin-client';
import { createSendChunk } from '@weir/cli/import/create-send-chunk';

const TIMED_OUT = new AdminRefusal('too slow', 408, undefined);
const text = 'x'.repeat(10_000);
const rowChunk = { first_line: 1, last_line: 16, rows: Array.from({ length: 16 }, (_, n) => [n, text]) };
/** Every second line of the file has a hit. */
const hitChunk = {
  first_line: 1,
  last_line: 32,
  hits: Array.from({ length: 16 }, (_, n) => {
    return { line: 2 * n + 2, timestamp: 0, ip: '192.0.2.1', user_agent: '', url: text, referrer: '' };
  }),
};

test.each([
  ['408', TIMED_OUT],
  ['a cut connection', new ConnectionCut('cut')],
])('after %s, a chunk is sent in parts, in order and without gaps', async (_, error) => {
  for (const chunk of [rowChunk, hitChunk]) {
    const stored: unknown[] = [];
    const ranges: [number, number][] = [];
    let refused = 0;
    const send = createSendChunk(
      async (part) => {
        const items = 'hits' in part ? part.hits : part.rows;
        if (items.length > 4) {
          refused += 1;
          throw error;
        }
        stored.push(...items);
        ranges.push([part.first_line, part.last_line]);
        return part;
      },
      (call) => call(),
    );
    expect(await send(chunk)).toMatchObject({ last_line: chunk.last_line });
    expect(stored).toEqual('hits' in chunk ? chunk.hits : chunk.rows);
    expect(ranges.map(([first]) => first)).toEqual([1, ...ranges.slice(0, -1).map(([, last]) => last + 1)]);
    // Later chunks are sent in the size that has arrived, so none of them is refused.
    const before = refused;
    await send(chunk);
    expect(refused).toBe(before);
  }
});

test('a small chunk is not divided: the error stays', async () => {
  const send = createSendChunk(
    async () => {
      throw TIMED_OUT;
    },
    (call) => call(),
  );
  await expect(send({ first_line: 1, last_line: 2, rows: [[1], [2]] })).rejects.toBe(TIMED_OUT);
});

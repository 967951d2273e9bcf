import { startWeir, type WeirProcess } from '@weir/testkit/weir-process';

/** The limit of the heap, as on a machine with about 1 GB of memory. */
const HEAP_MB = 256;
const ROWS = 90_000;

let weir: WeirProcess;

beforeAll(async () => {
  weir = await startWeir({ env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` } });
});
afterAll(() => weir?.stop());

test('with a small heap, SQL with a large answer is refused, and Weir continues', async () => {
  const pid = weir.pid();
  const { status, text } = await weir.client.admin('POST', '/sql', {
    query: `SELECT repeat('x', 1000) AS text FROM numbers(${ROWS})`,
  });
  expect({ status, text: text.slice(0, 300) }).toMatchObject({
    status: 400,
    text: expect.stringContaining('the result is larger than is allowed'),
  });
  expect(await weir.client.sql("SELECT repeat('x', 1000) AS text FROM numbers(1000)")).toHaveLength(1_000);
  expect(weir.pid()).toBe(pid);
});

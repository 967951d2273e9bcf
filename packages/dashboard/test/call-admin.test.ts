import { callAdmin } from '../src/api/call-admin.ts';

test('an answer that ends too early is reported as no answer', async () => {
  const body = new ReadableStream({ start: (stream) => stream.error(new TypeError('terminated')) });
  Object.assign(globalThis, { fetch: async () => new Response(body) });
  await expect(callAdmin('listSites')).rejects.toMatchObject({ status: 0, message: 'offline' });
});

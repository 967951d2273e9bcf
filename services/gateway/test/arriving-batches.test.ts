import { eventually } from '@weir/testkit/eventually';
import { beginRequest } from './begin-request.ts';
import { type RunningGateway, startGateway } from './start-gateway.ts';

const MIB = 1024 * 1024;
const CONNECTIONS = 128;
/** One key may use 16 of 21 parts of 128 MiB (waiting-room.ts). */
const ARRIVING = 97;

let weir: RunningGateway;
beforeAll(async () => {
  weir = await startGateway({
    config: { rateLimits: { collect: 600, events: 10_000, identify: 120 } },
    // Longer than this test, so that no body is answered with 408.
    http: { requestTimeoutMs: 600_000 },
  });
});
afterAll(() => weir.close());

/** Sends the head of a request with a batch of 1 MiB, and nothing of its body. */
const beginBatch = (key: string, answers: string[]) =>
  beginRequest(
    weir.port,
    '/api/v1/events/batch',
    [`Authorization: Bearer ${key}`, 'Content-Type: application/json', `Content-Length: ${MIB}`],
    answers,
  );

function sendBatch(key: string, bytes: number): Promise<number> {
  const body = '{"events":[{"name":"e"}]}'.padEnd(bytes);
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return fetch(`${weir.url}/api/v1/events/batch`, { method: 'POST', headers, body }).then(({ status }) => status);
}

it('one key cannot fill the memory with batches that arrive, and others are not affected', async () => {
  await Promise.all([weir.makeSite('site_a'), weir.makeSite('site_b')]);
  const [key, other] = [await weir.makeKey('site_a'), await weir.makeKey('site_b')];
  const answers: string[] = [];
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => beginBatch(key, answers)));
  await eventually('the answers', () => answers.length >= CONNECTIONS - ARRIVING);
  expect(answers).toHaveLength(CONNECTIONS - ARRIVING);
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 503 [\s\S]*\r\nRetry-After: 1\r\n/);
  expect(await sendBatch(key, MIB)).toBe(503);
  expect(await sendBatch(key, 100)).toBe(200);
  expect(await sendBatch(other, MIB)).toBe(200);

  // A connection that is only ended is answered with 400, because the body is incomplete.
  for (const [nth, socket] of sockets.entries()) nth % 2 === 0 ? socket.destroy() : socket.end();
  await eventually('room', async () => (await sendBatch(key, MIB)) === 200);
});

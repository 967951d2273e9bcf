import { eventually } from '@weir/testkit/eventually';
import { beginRequest } from './begin-request.ts';
import { type RunningGateway, startGateway } from './start-gateway.ts';

const BODY_BYTES = 64 * 1024;
const CONNECTIONS = 1024;
/** One client IP may use 16 of 21 parts of 64 MiB (waiting-room.ts). */
const ARRIVING = 780;

let weir: RunningGateway;
beforeAll(async () => {
  weir = await startGateway({
    config: { rateLimits: { collect: 100_000, events: 10_000, identify: 120 }, trustedProxies: ['127.0.0.1'] },
    // Longer than this test, so that no body is answered with 408.
    http: { requestTimeoutMs: 600_000 },
  });
});
afterAll(() => weir.close());

/** Sends the head of a hit of 64 KiB, and nothing of its body. */
const beginHit = (ip: string, answers: string[]) =>
  beginRequest(weir.port, '/api/collect', [`X-Forwarded-For: ${ip}`, `Content-Length: ${BODY_BYTES}`], answers);

function sendHit(ip: string, bytes: number): Promise<number> {
  const hit = { site_id: 'site_a', visitor_id: 'v', session_id: 's', type: 'pageview', url: 'https://example.com/' };
  const body = JSON.stringify(hit).padEnd(bytes);
  return fetch(`${weir.url}/api/collect`, { method: 'POST', headers: { 'x-forwarded-for': ip }, body }).then(
    ({ status }) => status,
  );
}

it('one client IP cannot fill the memory with hits that arrive while a site has its own limit', async () => {
  await weir.makeSite('site_a', { collect: 50_000 });
  const answers: string[] = [];
  const sockets = await Promise.all(Array.from({ length: CONNECTIONS }, () => beginHit('203.0.113.1', answers)));
  await eventually('the answers', () => answers.length >= CONNECTIONS - ARRIVING);
  expect(answers).toHaveLength(CONNECTIONS - ARRIVING);
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 503 [\s\S]*\r\nRetry-After: 1\r\n/);
  expect(await sendHit('203.0.113.1', BODY_BYTES)).toBe(503);
  expect(await sendHit('203.0.113.1', 200)).toBe(204);
  expect(await sendHit('203.0.113.2', BODY_BYTES)).toBe(204);

  for (const socket of sockets) socket.destroy();
  await eventually('room', async () => (await sendHit('203.0.113.1', BODY_BYTES)) === 204);
});

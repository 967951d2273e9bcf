import { type RunningGateway, startGateway } from './start-gateway.ts';

let weir: RunningGateway;
let key: string;
beforeAll(async () => {
  weir = await startGateway({ config: { rateLimits: { collect: 100_000, events: 100_000, identify: 100_000 } } });
  await weir.makeSite('site_a');
  key = await weir.makeKey('site_a');
});
afterAll(() => weir.close());

function post(body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${weir.url}/api/v1/events`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
  });
}

describe('4.1 POST /api/v1/events', () => {
  it('202 {status: "success", data: {accepted: true}}', async () => {
    const response = await post({ name: 'signup', visitorId: 'v1' });
    expect(response.status).toBe(202);
    expect(await response.json()).toEqual({ status: 'success', data: { accepted: true } });
    expect(response.headers.get('ratelimit-limit')).toBe('100000');
    const record = (await weir.records()).find(({ body }) => body.name === 'signup');
    expect(record).toMatchObject({ kind: 'event', siteId: 'site_a', ip: '127.0.0.1', body: { visitorId: 'v1' } });
  });
});

import { type RunningGateway, startGateway } from './start-gateway.ts';

const hit = { site_id: 'site_a', visitor_id: 'v', session_id: 's', type: 'pageview' };
const running: RunningGateway[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((weir) => weir.close()));
});

async function start(config: Parameters<typeof startGateway>[0]): Promise<RunningGateway> {
  const weir = await startGateway(config);
  running.push(weir);
  await weir.makeSite('site_a');
  return weir;
}
const post = (weir: RunningGateway, body: unknown, headers: Record<string, string> = {}, path = '/api/collect') =>
  fetch(`${weir.url}${path}`, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

describe('POST /api/collect', () => {
  it('counts the traits of an identify that are not stored', async () => {
    const weir = await start({});
    const traits = Object.fromEntries(Array.from({ length: 27 }, (_, i) => [`t${i}`, i]));
    const identity = { user_id: 'u', firstName: 'A', ...traits };
    expect((await post(weir, { ...hit, type: 'identify', identity })).status).toBe(204);
    const metrics = await (await fetch(`${weir.url}/metrics`)).text();
    expect(metrics).toContain('weir_gateway_dropped_traits_total{reason="over_limit"} 2\n');
    expect(metrics).toContain('weir_gateway_dropped_traits_total{reason="invalid_key"} 1\n');
  });

  it('answers only with a status and CORS headers, and accepts any Content-Type', async () => {
    const weir = await start({ config: { collectPaths: ['/t/hit'] } });
    const answers = [
      await post(weir, hit, { 'content-type': 'text/plain' }),
      await post(weir, hit, { 'content-type': 'application/json' }, '/t/hit'),
      await post(weir, '{'),
      await post(weir, { ...hit, site_id: 'none' }),
      await post(weir, { ...hit, url: 'x'.repeat(70_000) }),
      await fetch(`${weir.url}/api/collect`),
      await fetch(`${weir.url}/api/collect`, { method: 'OPTIONS' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([204, 204, 400, 404, 413, 405, 204]);
    for (const answer of answers) {
      expect(await answer.text()).toBe('');
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    }
    expect(answers[5]?.headers.get('allow')).toBe('POST, OPTIONS');
    expect(answers[6]?.headers.get('access-control-max-age')).toBe('86400');
  });

  it('checks the rate limit (429) before the body (400)', async () => {
    const weir = await start({ config: { rateLimits: { collect: 1, events: 1, identify: 1 } } });
    expect((await post(weir, '{')).status).toBe(400);
    const limited = await post(weir, '{');
    expect([limited.status, await limited.text()]).toEqual([429, '']);
    expect(limited.headers.get('access-control-expose-headers')).toBe('Retry-After');
    expect(limited.headers.get('retry-after')).toMatch(/^\d+$/);
  });

  it('the limit of a site replaces the default limit and is counted separately', async () => {
    const weir = await start({ config: { rateLimits: { collect: 2, events: 1, identify: 1 } } });
    await weir.makeSite('site_b', { collect: 4 });
    const statuses = async (siteId: string, count: number) => {
      const found: number[] = [];
      for (let i = 0; i < count; i++) found.push((await post(weir, { ...hit, site_id: siteId })).status);
      return found;
    };
    expect(await statuses('site_b', 5)).toEqual([204, 204, 204, 204, 429]);
    expect(await statuses('site_a', 3)).toEqual([204, 204, 429]);
    expect((await post(weir, '{')).status).toBe(429);
  });
});

describe('X-Forwarded-For is trusted only as far as the trusted proxies go', () => {
  const addressOf = async (
    trustedProxies: readonly string[] | number,
    forwarded: string,
  ): Promise<string | undefined> => {
    const weir = await start({ config: { trustedProxies } });
    expect((await post(weir, hit, { 'x-forwarded-for': forwarded })).status).toBe(204);
    return (await weir.records())[0]?.ip;
  };

  it.each([
    [[], '203.0.113.1', '127.0.0.1'],
    [['127.0.0.1'], '203.0.113.1', '203.0.113.1'],
    [['127.0.0.1'], '203.0.113.1, 198.51.100.2', '198.51.100.2'],
    [['127.0.0.0/8', '198.51.100.0/24'], '203.0.113.1, 198.51.100.2', '203.0.113.1'],
    [['127.0.0.1', '2001:db8::/32'], '[2001:DB8::1]:443', '2001:db8::1'],
    [1, '203.0.113.1, 198.51.100.2:1234', '198.51.100.2'],
    [2, '203.0.113.1, 198.51.100.2', '203.0.113.1'],
    [5, '203.0.113.1', '203.0.113.1'],
    [2, 'unknown, 198.51.100.2', '198.51.100.2'],
    [1, '', '127.0.0.1'],
    [1, '::ffff:203.0.113.1', '203.0.113.1'],
  ])('%j trusted, %j: %s', async (trusted, forwarded, address) => {
    expect(await addressOf(trusted, forwarded)).toBe(address);
  });
});

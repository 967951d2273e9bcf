import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { freePort } from '@weir/testkit/free-port';
import { type HttpAnswer, keptConnection, readMetric, sendHttp } from '@weir/testkit/http-client';
import { bearer } from '@weir/testkit/weir-client';
import { isRunning, runProgram, startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import { ACCEPTED, DUPLICATE, expectJson, expectNoBody } from '../expect-answers.ts';
import { describeOwnProcess, useOwnWeir } from '../use-weir.ts';

const TWO = { WEIR_GATEWAY_PROCESSES: '2' };
const CONNECTIONS = 16;

const hit = (site: string) => ({ site_id: site, visitor_id: 'v', session_id: 's', type: 'pageview', pathname: '/' });

/** Sends requests at the same time, each over its own connection, so that both gateway processes get some of them. */
const atOnce = (count: number, send: (nth: number) => Promise<HttpAnswer>): Promise<readonly HttpAnswer[]> =>
  Promise.all(Array.from({ length: count }, (_, nth) => send(nth)));

const statuses = (answers: readonly HttpAnswer[]): Record<string, number> => {
  const found: Record<string, number> = {};
  for (const { status } of answers) found[status] = (found[status] ?? 0) + 1;
  return found;
};

const twoGateways = (weir: WeirProcess): Promise<readonly number[]> =>
  eventually('two gateway processes', async () => {
    const pids = weir.gatewayPids();
    return pids.length === 2 && (await readMetric(weir.url, 'weir_gateway_processes')) === 2 && pids;
  });

describeOwnProcess('two gateway processes on one port, with embedded engines', () => {
  const weir = useOwnWeir(TWO);
  const event = (key: string, body: object, headers = {}) =>
    sendHttp(weir.url, { path: '/api/v1/events', headers: { ...bearer(key), ...headers }, body });

  test('both accept connections, and one of them continues while the other is killed and started again', async () => {
    const { key } = await weir.client.createSiteWithKey();
    const before = await twoGateways(weir);
    const agents = Array.from({ length: CONNECTIONS }, keptConnection);
    const send = (agent: (typeof agents)[number]) =>
      sendHttp(weir.url, { path: '/api/v1/events', headers: bearer(key), body: { name: 'x' }, agent });
    const sockets = agents.map((agent) => () => Object.values(agent.freeSockets).flat());
    for (const answer of await Promise.all(agents.map(send))) expectJson(answer, 202, ACCEPTED);
    await eventually('all connections to be kept', () => sockets.every((kept) => kept().length === 1));

    process.kill(before[0] ?? 0, 'SIGKILL');
    await eventually('connections of the killed process to be closed', () =>
      sockets.some((kept) => kept().length === 0),
    );
    const after = await twoGateways(weir);
    const kept = agents.filter((_, nth) => sockets[nth]?.().length === 1);
    expect(kept.length).toBeGreaterThan(0);
    expect(kept.length).toBeLessThan(CONNECTIONS);
    for (const answer of await Promise.all(kept.map(send))) expectJson(answer, 202, ACCEPTED);
    expect(after).toContain(before[1]);
    expect(after).not.toContain(before[0]);
    expect(await readMetric(weir.url, 'weir_gateway_process_restarts_total')).toBe(1);
    expect(weir.output()).toContain('a gateway process ended: another one is started');
    for (const agent of agents) agent.destroy();
  });

  test('a rate limit is exact for both processes together', async () => {
    const site = await weir.client.createSite();
    await weir.client.must(200, 'PATCH', `/sites/${site}`, { limits: { events: 100, collect: 50 } });
    const { key } = await weir.client.createKey(site);
    expect(statuses(await atOnce(200, () => event(key, { name: 'x' })))).toEqual({ 202: 100, 429: 100 });
    const collect = () => sendHttp(weir.url, { path: '/api/collect', body: hit(site) });
    expect(statuses(await atOnce(80, collect))).toEqual({ 204: 50, 429: 30 });
  });

  test('of many requests with one idempotency key, one is answered with 202, the others with 200, and one is stored', async () => {
    const { site, key } = await weir.client.createSiteWithKey();
    const answers = await atOnce(60, () => event(key, { name: 'once', idempotency_key: 'same' }));
    expect(statuses(answers)).toEqual({ 200: 59, 202: 1 });
    for (const answer of answers) expectJson(answer, answer.status, answer.status === 202 ? ACCEPTED : DUPLICATE);
    const others = await atOnce(20, (nth) => event(key, { name: 'other', idempotency_key: `other-${nth}` }));
    expect(statuses(others)).toEqual({ 202: 20 });
    await weir.client.rows('events', site, 21);
    expect(await weir.client.number('SELECT count() FROM events WHERE site_id = {site:String}', { site })).toBe(21);
    await weir.client.settled();
    await weir.client.balanced();
  });

  test('a new key is known, and a revoked key is refused, by both processes', async () => {
    const site = await weir.client.createSite();
    const { keyId, key } = await weir.client.createKey(site);
    expect(statuses(await atOnce(CONNECTIONS, () => event(key, { name: 'x' })))).toEqual({ 202: CONNECTIONS });
    await weir.client.must(200, 'DELETE', `/sites/${site}/keys/${keyId}`);
    expect(statuses(await atOnce(CONNECTIONS, () => event(key, { name: 'x' })))).toEqual({ 401: CONNECTIONS });
  });

  test('/metrics adds the counts of both processes, and keeps those of a killed process', async () => {
    const { key } = await weir.client.createSiteWithKey();
    const accepted = 'weir_http_requests_total{endpoint="events",status="202"}';
    // If a process does not answer in time, /metrics has its last counts. So the count is read until it no longer changes.
    let before = Number.NaN;
    await eventually('a count that stays', async () => {
      const last = before;
      before = await readMetric(weir.url, accepted);
      return before === last;
    });
    await atOnce(40, () => event(key, { name: 'x' }));
    await eventually('the counts', async () => (await readMetric(weir.url, accepted)) === before + 40);
    const restarts = await readMetric(weir.url, 'weir_gateway_process_restarts_total');
    for (const pid of await twoGateways(weir)) process.kill(pid, 'SIGKILL');
    await eventually('both to be started again', async () => {
      return (await readMetric(weir.url, 'weir_gateway_process_restarts_total')) === restarts + 2;
    });
    await twoGateways(weir);
    expect(await readMetric(weir.url, accepted)).toBe(before + 40);
  });

  test('the port also serves everything that the main process answers', async () => {
    const get = (path: string, headers = {}) => sendHttp(weir.url, { path, headers });
    await twoGateways(weir);
    expectJson(await get('/healthz'), 200, { status: 'ok' });
    expectJson(await get('/readyz'), 200, { status: 'ready' });
    expect((await get('/openapi.json')).json).toMatchObject({ openapi: expect.any(String) });
    expect((await get('/weir.js')).headers['content-type']).toContain('javascript');
    expect((await get('/dashboard')).text).toContain('<html');
    expectJson(await get('/nowhere'), 404, { status: 'error', error: { code: 404, message: 'no such path' } });
    expect((await get('/api/admin/sites')).status).toBe(401);
    expect((await sendHttp(weir.url, { path: '/healthz', body: {} })).headers.allow).toContain('GET');
    expectNoBody(await sendHttp(weir.url, { method: 'OPTIONS', path: '/api/collect' }), 204);
    expect(await weir.client.must(200, 'GET', '/whoami')).toMatchObject({
      address: '127.0.0.1',
      connection: '127.0.0.1',
      crowded_sites: [],
    });
  });
});

describeOwnProcess('the end of Weir with gateway processes', () => {
  test('SIGTERM answers running requests, ends all processes, and leaves no socket behind', async () => {
    const TMPDIR = mkdtempSync(join(tmpdir(), 'weir-sockets-'));
    const sockets = () => readdirSync(TMPDIR).filter((name) => name.startsWith('weir-main-'));
    const weir = await startWeir({ env: { ...TWO, TMPDIR } });
    const { key } = await weir.client.createSiteWithKey();
    const pids = await twoGateways(weir);
    expect(sockets()).toHaveLength(1);
    const answers = atOnce(CONNECTIONS, () =>
      sendHttp(weir.url, { path: '/api/v1/events', headers: bearer(key), body: { name: 'x' } }),
    );
    expect(statuses(await answers)).toEqual({ 202: CONNECTIONS });
    await weir.stop();
    expect(pids.filter(isRunning)).toEqual([]);
    expect(sockets()).toEqual([]);
    rmSync(TMPDIR, { recursive: true });
  });

  test('SIGHUP to all processes, as from a terminal that is closed, ends them as SIGTERM does', async () => {
    const weir = await startWeir({ env: TWO });
    const pids = [...(await twoGateways(weir)), weir.clickhousePid()];
    process.kill(-weir.pid(), 'SIGHUP');
    expect(await weir.ended()).toBe(0);
    expect(pids.filter(isRunning)).toEqual([]);
    expect(weir.output()).toContain('"signal":"SIGHUP"');
    expect(weir.output()).not.toMatch(/another one is started|restarting it/);
    await weir.stop();
  });

  test('if the main process is killed, the gateway processes end, and a restart on the same port works', async () => {
    const weir = await startWeir({ env: TWO });
    const pids = await twoGateways(weir);
    weir.signal('SIGKILL');
    await weir.ended();
    await eventually('the gateway processes to end', () => !pids.some(isRunning));
    await weir.restart();
    expect(await twoGateways(weir)).toHaveLength(2);
    await weir.stop();
  });

  test('a port that is in use stops the start with the same message as without gateway processes', async () => {
    const weir = await startWeir({ env: TWO });
    const PORT = new URL(weir.url).port;
    const env = { ...TWO, PORT, WEIR_DATA_DIR: `${weir.dataDir}-other`, WEIR_ADMIN_TOKEN: weir.client.adminToken };
    const run = await runProgram('main.js', ['gateway'], env);
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/weir: listen EADDRINUSE/);
    await weir.stop();
  });

  test.each(['0', '65', 'many'])('WEIR_GATEWAY_PROCESSES=%s is refused', async (WEIR_GATEWAY_PROCESSES) => {
    const run = await runProgram('main.js', [], { WEIR_GATEWAY_PROCESSES, PORT: String(await freePort()) });
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(/WEIR_GATEWAY_PROCESSES must be .*1.*64/);
  });
});

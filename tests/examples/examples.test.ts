import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { PROJECT_ROOT, startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import { readmeExample } from './readme-example.ts';

const run = promisify(execFile);

// tests/browser tests the examples for browsers.
describe('the examples run without changes', () => {
  let weir: WeirProcess;
  beforeAll(async () => {
    weir = await startWeir();
  }, 120_000);
  afterAll(() => weir.stop(), 60_000);

  const openSite = async () => {
    const { site: siteId, key } = await weir.client.createSiteWithKey();
    const env = { ...process.env, WEIR_URL: weir.url, WEIR_KEY: key };
    const signups = async (count: number) => {
      await weir.client.rows('events', siteId, count);
      await weir.client.settled();
      return weir.client.rows('events', siteId, count, 'event_name, user_id, value');
    };
    return { run: (program: string, args: string[]) => run(program, args, { cwd: PROJECT_ROOT, env }), signups };
  };
  const SIGNUP = { event_name: 'signup', user_id: 'ada', value: 49 };

  test('README: Node, curl and Python; an event that is sent twice is stored once', async () => {
    const site = await openSite();
    await site.run(process.execPath, [
      '--import',
      'tsx',
      '--input-type=module',
      '--eval',
      readmeExample('js', weir.url),
    ]);
    const curl = await site.run('bash', ['-euc', readmeExample('sh', weir.url)]);
    expect(JSON.parse(curl.stdout)).toEqual({ status: 'success', data: { accepted: true } });
    const python = await site.run('python3', ['-c', readmeExample('python', weir.url)]);
    expect(JSON.parse(python.stdout)).toEqual({ status: 'success', data: { accepted: true } });
    const again = await site.run('python3', ['-c', readmeExample('python', weir.url)]);
    expect(JSON.parse(again.stdout)).toEqual({ status: 'success', data: { accepted: false, duplicate: true } });
    expect(await site.signups(3)).toEqual([SIGNUP, SIGNUP, SIGNUP]);
  });

  test('examples/: node.ts, curl.sh (twice, with the same key) and python.py', async () => {
    const site = await openSite();
    await site.run(process.execPath, ['--import', 'tsx', 'examples/node.ts']);
    await site.run('bash', ['examples/curl.sh', 'once']);
    await site.run('bash', ['examples/curl.sh', 'once']);
    await site.run('python3', ['examples/python.py']);
    expect(await site.signups(3)).toEqual([SIGNUP, SIGNUP, SIGNUP]);
  });
});

test('examples/python.py sends an event again, with the same key, after 408 and after an answer that is cut', async () => {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    bodies.push(Buffer.concat(await request.toArray()).toString());
    const success = '{"status":"success","data":{"accepted":true}}';
    if (bodies.length === 1) response.writeHead(408, { 'retry-after': 'Wed, 21 Oct 2037 07:28:00 GMT' }).end();
    else if (bodies.length > 2) response.end(success);
    else {
      response.writeHead(200, { 'content-length': success.length });
      response.write(success.slice(0, 9), () => response.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const env = { ...process.env, WEIR_URL: url, WEIR_KEY: 'k' };
    await run('python3', ['examples/python.py'], { cwd: PROJECT_ROOT, env });
  } finally {
    server.close();
  }
  expect(bodies).toEqual(Array(3).fill(bodies[0]));
});

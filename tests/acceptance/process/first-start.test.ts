import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { freePort } from '@weir/testkit/free-port';
import { sendHttp } from '@weir/testkit/http-client';
import { bareEnv, killGroup, PROJECT_ROOT, startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import { ACCEPTED } from '../expect-answers.ts';
import { describeOwnProcess } from '../use-weir.ts';

describeOwnProcess('the first npm start with an empty data folder', () => {
  let weir: WeirProcess;
  let firstOutput = '';
  let token = '';

  beforeAll(async () => {
    weir = await startWeir({ env: { WEIR_ADMIN_TOKEN: '' } });
    firstOutput = weir.output();
    const holder = readdirSync(weir.dataDir, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(weir.dataDir, entry.name))
      .find(
        (file) =>
          /^[\x21-\x7e]{16,256}\s*$/.test(readFileSync(file, 'utf8')) &&
          firstOutput.includes(readFileSync(file, 'utf8').trim()),
      );
    if (holder === undefined)
      throw new Error(`no file of ${weir.dataDir} contains a token that was printed:\n${firstOutput}`);
    token = readFileSync(holder, 'utf8').trim();
    expect(statSync(holder).mode & 0o777).toBe(0o600);
  });
  afterAll(() => weir?.stop());

  test('creates an admin token, stores it in the data folder and prints it once', async () => {
    expect(firstOutput.split(token)).toHaveLength(2);
    const answer = await weir.client.send({ path: '/api/admin/sites', headers: { authorization: `Bearer ${token}` } });
    expect(answer.status).toBe(200);
  });

  test('creates a demo site and prints the addresses of the dashboard and the snippet', async () => {
    const sites = await weir.client.send({ path: '/api/admin/sites', headers: { authorization: `Bearer ${token}` } });
    const { data } = sites.json as { data: { site_id: string }[] };
    expect(data).toHaveLength(1);
    expect(firstOutput).toContain(weir.url);
    expect(firstOutput).toMatch(new RegExp(`<script[^>]*${weir.url}/weir\\.js[^>]*>`));
    expect(firstOutput).toMatch(new RegExp(`<script[^>]*${data[0]?.site_id}[^>]*>`));
  });

  test('the printed addresses work: dashboard and snippet use the same port', async () => {
    const root = await weir.client.send({ path: '/' });
    expect([root.status, root.headers.location]).toEqual([302, '/dashboard']);
    const dashboard = await weir.client.send({ path: '/dashboard' });
    expect([dashboard.status, dashboard.headers['content-type']]).toEqual([200, expect.stringMatching(/^text\/html/)]);
    const snippet = await weir.client.send({ path: '/weir.js' });
    expect([snippet.status, snippet.headers['content-type']]).toEqual([200, expect.stringMatching(/javascript/)]);
  });

  test('prints a curl command that sends a server event', () => {
    const start = firstOutput.indexOf('curl ');
    expect(start).toBeGreaterThan(0);
    const command: string[] = [];
    for (const line of firstOutput.slice(start).split('\n')) {
      command.push(line);
      if (!line.trimEnd().endsWith('\\')) break;
    }
    const output = execFileSync('bash', ['-c', command.join('\n')], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    expect(output).toContain(JSON.stringify(ACCEPTED));
  });

  test('prints a command that shows the row of the event', async () => {
    const command = /^ +(.*npm run -s weir -- sql .*)$/m.exec(firstOutput)?.[1] ?? '';
    await eventually('the row', () => {
      const shell = { cwd: PROJECT_ROOT, env: bareEnv({}), encoding: 'utf8' } as const;
      return execFileSync('bash', ['-c', command], shell).includes('signup');
    });
  });

  test('a second start creates nothing and prints no token', async () => {
    await weir.terminate();
    await weir.restart();
    expect(weir.output().split(token)).toHaveLength(2);
    const sites = await weir.client.send({ path: '/api/admin/sites', headers: { authorization: `Bearer ${token}` } });
    expect((sites.json as { data: unknown[] }).data).toHaveLength(1);
  });

  test('in a folder that was restored from a backup, the demo site and its key stay as they are', async () => {
    const admin = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const key = /Bearer (wk_[\w-]+)/.exec(firstOutput)?.[1] as string;
    const path = '/api/admin/sites/demo';
    const body = JSON.stringify({ name: 'Shop' });
    expect((await weir.client.send({ method: 'PATCH', path, headers: admin, body })).status).toBe(200);
    await weir.terminate();
    // This is the state after a restore, because a backup does not contain this file.
    rmSync(join(weir.dataDir, 'log', 'welcomed'));
    await weir.restart();
    const site = await weir.client.send({ path, headers: admin });
    expect(site.json).toMatchObject({ data: { name: 'Shop' } });
    expect((await weir.client.events(key, { name: 'after_the_restore' })).status).toBe(202);
  });
});

describeOwnProcess('SIGTERM drains', () => {
  test('if only npm receives the signal, no process is left running', async () => {
    const port = await freePort();
    const dataDir = mkdtempSync(join(tmpdir(), 'weir-npm-'));
    const url = `http://127.0.0.1:${port}`;
    const npm = spawn('npm', ['start', '--', 'gateway'], {
      cwd: PROJECT_ROOT,
      env: bareEnv({ PORT: String(port), WEIR_DATA_DIR: dataDir }),
      stdio: 'ignore',
      detached: true,
    });
    const isReady = async () => (await sendHttp(url, { path: '/readyz' })).status === 200;
    try {
      await eventually('Weir to be ready', isReady);
      npm.kill('SIGTERM');
      await eventually('the port to be free', () =>
        isReady().then(
          () => false,
          () => true,
        ),
      );
    } finally {
      killGroup(npm);
      // A process of the group that is ending can still create a file.
      rmSync(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    }
  });
});

import { runWeir } from '@weir/testkit/weir-process';
import { ACCEPTED, expectEnvelope, expectJson } from '../expect-answers.ts';
import { useWeir } from '../use-weir.ts';

const client = useWeir();

async function run(...args: string[]) {
  return runWeir(client, args);
}

/** Runs a command with `--json`. Expects success, and returns the parsed output. */
async function json<T>(...args: string[]): Promise<T> {
  const { code, stdout, stderr } = await run(...args, '--json');
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as T;
}

describe('the weir command', () => {
  test('site: add, list, show, set, remove', async () => {
    const site = await json<{ site_id: string }>('site', 'add', 'cli.example', '--name', 'CLI');
    expect(site).toMatchObject({ name: 'CLI', domain: 'cli.example' });
    const list = await json<{ site_id: string }[]>('site', 'list');
    expect(list.map((found) => found.site_id)).toContain(site.site_id);
    expect(await json('site', 'set', site.site_id, '--timezone', 'Asia/Tokyo')).toMatchObject({
      timezone: 'Asia/Tokyo',
    });
    expect(await json('site', 'show', site.site_id)).toMatchObject({ name: 'CLI', timezone: 'Asia/Tokyo' });
    const human = await run('site', 'list');
    expect(human.stdout).toContain('cli.example');
    expect((await run('site', 'remove', site.site_id)).code).toBe(0);
    expectEnvelope(await client.admin('GET', `/sites/${site.site_id}`), 404);
  });

  test('key: add, list, revoke', async () => {
    const site = await client.createSite();
    const key = await json<{ key: string; key_id: string }>('key', 'add', '--site', site, '--name', 'backend');
    await client.keyKnown(key.key);
    expectJson(await client.events(key.key, { name: 'x' }), 202, ACCEPTED);
    const list = await run('key', 'list', '--site', site, '--json');
    expect(list.stdout).toContain(key.key_id);
    expect(list.stdout).not.toContain(key.key);
    expect((await run('key', 'revoke', key.key_id, '--site', site)).code).toBe(0);
    await client.keyRefused(key.key);
    expectEnvelope(await client.events(key.key, { name: 'x' }), 401);
  });

  test('exclusion: add, list, remove', async () => {
    const site = await client.createSite();
    const rule = await json<{ rule_id: string }>('exclusion', 'add', 'path', '/admin/*', '--site', site);
    expect(await json('exclusion', 'list', '--site', site)).toMatchObject([{ type: 'path', value: '/admin/*' }]);
    expect((await run('exclusion', 'remove', rule.rule_id, '--site', site)).code).toBe(0);
    expect(await json('exclusion', 'list', '--site', site)).toEqual([]);
  });

  test('sql: prints a table, or JSON with --json', async () => {
    const human = await run('sql', "SELECT 'answer' AS question, 42 AS number");
    expect(human).toMatchObject({ code: 0, stdout: expect.stringMatching(/question[\s\S]*answer[\s\S]*42/) });
    expect(JSON.stringify(await json('sql', 'SELECT 42 AS number'))).toContain('{"number":42}');
    expect((await run('sql', 'DROP TABLE events')).code).toBeGreaterThan(0);
  });

  test('status and audit', async () => {
    const site = await client.createSite();
    await client.events((await client.createKey(site)).key, { name: 'x' });
    await client.rows('events', site, 1);
    expect(JSON.stringify(await json('status'))).toContain('"lag"');
    expect((await run('status')).stdout).toContain('events.raw');
    await client.settled();
    expect((await run('audit')).code).toBe(0);
    await json('audit');
  });

  test.each([[], ['site'], ['key'], ['exclusion'], ['sql'], ['status'], ['audit'], ['import']])(
    '--help of %j has examples',
    async (...args) => {
      const command = args.filter((arg): arg is string => typeof arg === 'string');
      const { code, stdout } = await run(...command, '--help');
      expect(code).toBe(0);
      expect(stdout).toMatch(/examples?:/i);
    },
  );

  test('exit codes that scripts can use; errors go to standard error', async () => {
    const failures = [
      await run('no-such-command'),
      await run('site', 'show', 'no-such-site'),
      await run('key', 'add', '--site', 'no-such-site', '--name', 'x'),
      await run('import', '/no/such/file', '--site', await client.createSite()),
      await runWeir({ urls: ['http://127.0.0.1:1'], adminToken: client.adminToken }, ['status']),
      await runWeir({ urls: client.urls, adminToken: 'wrong-token-0123456789' }, ['status']),
    ];
    for (const { code, stdout, stderr } of failures) {
      expect(code).toBeGreaterThan(0);
      expect(stdout).toBe('');
      expect(stderr).not.toBe('');
      expect(stderr).not.toMatch(/\n\s+at /);
    }
  });
});

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { freePort } from '@weir/testkit/free-port';
import { runProgram, startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import { ACCEPTED, DUPLICATE, expectJson, profileIdOf } from '../expect-answers.ts';
import { describeOwnProcess } from '../use-weir.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'weir-config-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describeOwnProcess('a wrong setting stops the start, with a message about all wrong settings', () => {
  test('one message has all problems, and the exit code is not 0', async () => {
    const wrong = {
      PORT: 'eighty',
      LOG_LEVEL: 'loud',
      TRUSTED_PROXIES: '10.0.0.0/8,proxy.internal',
      CLIENT_IP_HEADER: 'X Real IP',
      RATE_LIMIT_COLLECT: '-1',
      RATE_LIMIT_EVENTS: '1.5',
      RATE_LIMIT_IDENTIFY: 'many',
      RAW_RETENTION_HOURS: '0',
      ENRICHED_RETENTION_DAYS: 'week',
      COLLECT_PATHS: 'no-slash',
      GEOIP_DATABASE: join(folder, 'none.mmdb'),
    };
    const run = await runProgram('main.js', [], { ...wrong, WEIR_DATA_DIR: join(folder, 'data') });
    expect(run.code).toBeGreaterThan(0);
    for (const name of Object.keys(wrong)) expect(run.stderr).toContain(name);
    expect(run.stderr).not.toMatch(/\n\s+at /);
  });

  test('CLIENT_IP_HEADER without trusted proxies', async () => {
    const env = { CLIENT_IP_HEADER: 'X-Real-IP', WEIR_DATA_DIR: join(folder, 'data'), PORT: String(await freePort()) };
    const run = await runProgram('main.js', [], env);
    expect(run.code).toBeGreaterThan(0);
    expect(run.stderr).toContain('CLIENT_IP_HEADER needs TRUSTED_PROXIES');
  });

  test('a file that is not a GeoIP database', async () => {
    writeFileSync(join(folder, 'none.mmdb'), 'none');
    const env = { GEOIP_DATABASE: join(folder, 'none.mmdb'), WEIR_DATA_DIR: join(folder, 'data') };
    const run = await runProgram('main.js', [], { ...env, PORT: String(await freePort()) });
    expect(run.code).toBeGreaterThan(0);
    expect(run.stderr).toContain('GEOIP_DATABASE');
    expect(run.stderr).not.toMatch(/\n\s+at /);
  });

  test('an unknown role', async () => {
    const run = await runProgram('main.js', ['gatway'], { WEIR_DATA_DIR: join(folder, 'data') });
    expect(run.code).toBeGreaterThan(0);
    expect(run.stderr).toContain('gatway');
    for (const role of ['gateway', 'enricher', 'writer', 'control']) expect(run.stderr).toContain(role);
  });

  test('a port that is in use', async () => {
    const weir = await startWeir();
    const env = { PORT: new URL(weir.url).port, WEIR_DATA_DIR: join(folder, 'data') };
    const run = await runProgram('main.js', [], env);
    await weir.stop();
    expect(run.code).toBeGreaterThan(0);
    expect(run.stderr).toContain(env.PORT);
    expect(run.stderr).not.toMatch(/\n\s+at /);
    // The start above failed before it printed the secrets. Therefore this start still counts as the first one, and prints them.
    const first = await startWeir({ dataDir: join(folder, 'data'), env: { WEIR_ADMIN_TOKEN: '' } });
    await first.terminate();
    expect(first.output()).toContain(readFileSync(join(folder, 'data', 'admin-token'), 'utf8').trim());
    expect(first.output()).toMatch(/curl .*\n.*Bearer wk_/);
  });
});

describeOwnProcess('WEIR_DATA_DIR: one process group at a time', () => {
  test('a second start ends with an error (data_folder_in_use), and the first process continues', async () => {
    const weir = await startWeir();
    const run = await runProgram('main.js', [], { PORT: String(await freePort()), WEIR_DATA_DIR: weir.dataDir });
    expect(run.code).toBeGreaterThan(0);
    expect(run.stderr).toContain(weir.dataDir);
    const { key } = await weir.client.createSiteWithKey();
    expectJson(await weir.client.events(key, { name: 'x' }), 202, ACCEPTED);
    await weir.stop();
  });

  test('a second start waits until the first process has released the folder', async () => {
    const first = await startWeir({ dataDir: folder });
    const stopped = first.stop();
    await eventually('the drain', () => first.output().includes('draining'));
    // The second start waits 5 s for the folder. On a slow machine, the drain takes longer. The second start then ends, and the test repeats it.
    let second: WeirProcess | undefined;
    while (second === undefined) {
      const startedAt = performance.now();
      second = await startWeir({ dataDir: folder }).catch((error: unknown) => {
        expect(String(error)).toContain(`${folder} is in use by another Weir`);
        expect(performance.now() - startedAt).toBeGreaterThan(5_000);
        return undefined;
      });
    }
    await second.stop();
    await stopped;
  });
});

describeOwnProcess('after a restart', () => {
  test('rows, keys, links, idempotency keys and profile IDs are the same as before', async () => {
    const weir = await startWeir();
    const { client } = weir;
    const { site, key } = await client.createSiteWithKey();
    const profileId = profileIdOf(await client.identify(key, { visitor_id: 'v', user_id: 'u', plan: 'pro' }));
    expectJson(await client.events(key, { name: 'once', idempotency_key: 'k' }), 202, ACCEPTED);
    expect(await weir.terminate()).toBe(0);
    await weir.restart();

    expectJson(await client.events(key, { name: 'once', idempotency_key: 'k' }), 200, DUPLICATE);
    expectJson(await client.events(key, { name: 'linked', user_id: 'u' }), 202, ACCEPTED);
    expect(profileIdOf(await client.identify(key, { visitor_id: 'v2', user_id: 'u' }))).toBe(profileId);
    const rows = await client.rows('events', site, 2, 'event_name, visitor_id');
    expect(rows.map((row) => `${row.event_name} ${row.visitor_id}`).toSorted()).toEqual(['linked v', 'once ']);
    await client.settled();
    expect(await client.audit()).toEqual([]);
    await weir.stop();
  });

  test('SIGTERM drains: every accepted request is answered, and its record is stored', async () => {
    const weir = await startWeir({ env: { RATE_LIMIT_EVENTS: '1000000' } });
    const { site, key } = await weir.client.createSiteWithKey();
    const sent = Array.from({ length: 200 }, (_, n) =>
      weir.client.events(key, { name: `e${n}` }).catch(() => undefined),
    );
    await sent[0];
    const ended = weir.terminate();
    const answers = await Promise.all(sent);
    expect(await ended).toBe(0);
    const accepted = answers.filter((answer) => answer?.status === 202).length;
    expect(answers.filter((answer) => answer !== undefined && ![202, 503].includes(answer.status))).toEqual([]);
    await weir.restart();
    await weir.client.settled();
    expect(await weir.client.number(`SELECT count() FROM events WHERE site_id = '${site}'`)).toBe(accepted);
    await weir.stop();
  });
});

import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from '@weir/testkit/eventually';
import { describeLive } from '@weir/testkit/live-ports';
import { bareEnv, PROJECT_ROOT, runWeir, startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import { sendSomeTraffic } from './some-traffic.ts';

/** With CI=true, infra/local/install-languages.mjs installs this package. */
const KAFKA_PYTHON = join(PROJECT_ROOT, '.cache/python/kafka-python-2.2.15');
const hasKafkaPython = existsSync(KAFKA_PYTHON);

describeLive('kafka', (brokers) => {
  const prefix = `t${randomUUID().slice(0, 8)}-`;
  const engine = () => ({ KAFKA_BROKERS: brokers(), KAFKA_TOPIC_PREFIX: prefix });
  const programs: ChildProcess[] = [];
  let weir: WeirProcess;
  let siteId: string;

  beforeAll(async () => {
    weir = await startWeir({ env: engine() });
    siteId = await sendSomeTraffic(weir);
  }, 180_000);
  afterAll(async () => {
    for (const program of programs) program.kill('SIGKILL');
    await weir?.stop();
  }, 60_000);

  /** Runs a consumer until it has printed every row of the site. */
  async function rowsFrom(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const program = spawn(command, args, { cwd: PROJECT_ROOT, env: bareEnv({ ...engine(), ...env }) });
    programs.push(program);
    const lines: string[] = [];
    let errors = '';
    createInterface({ input: program.stdout }).on('line', (line) => lines.push(line));
    program.stderr.on('data', (chunk) => {
      errors += String(chunk);
    });
    const count = await weir.client.number('SELECT count() FROM events WHERE site_id = {site:String}', {
      site: siteId,
    });
    const ofSite = () => lines.map((line) => JSON.parse(line)).filter(({ site }) => site === siteId);
    await eventually(`${count} rows`, () => {
      if (program.exitCode !== null) throw new Error(`the consumer ended: ${errors}`);
      return ofSite().length >= count;
    }).catch((error: unknown) => {
      throw new Error(`${error}: ${errors.slice(-2000)}`);
    });
    program.kill('SIGTERM');
    return ofSite()
      .map(({ name, path }) => `${name} ${path}`)
      .toSorted();
  }

  const stored = async (): Promise<readonly string[]> => {
    const rows = await weir.client.rows('events', siteId, 1, 'event_name, type, pathname');
    return rows.map((row) => `${row.event_name || row.type} ${row.pathname}`).toSorted();
  };

  test('examples/consume-enriched.ts reads every row as an object', async () => {
    const args = ['--import', 'tsx', 'examples/consume-enriched.ts'];
    expect(await rowsFrom(process.execPath, args)).toEqual(await stored());
  });

  const python = hasKafkaPython || process.env.CI === 'true' ? test : test.skip;
  python('examples/consume_enriched.py reads every row as an object (skipped without kafka-python)', async () => {
    const env = { PYTHONPATH: KAFKA_PYTHON };
    expect(await rowsFrom('python3', ['examples/consume_enriched.py'], env)).toEqual(await stored());
  });

  test('weir topics list and tail read Kafka, and change no committed offset', async () => {
    const weirCommand = (...args: string[]) => runWeir(weir.client, ['topics', ...args]);
    const before = await weir.client.must(200, 'GET', '/pipeline');
    const listed = JSON.parse((await weirCommand('list', '--json')).stdout);
    const raw = listed.find(({ name }: { name: string }) => name === 'events.raw');
    expect(raw.records).toBeGreaterThan(5);
    const tail = await weirCommand('tail', 'events.raw', '--since', '1h', '--json');
    expect([tail.code, tail.stderr, tail.stdout.trim().split('\n').length]).toEqual([0, '', raw.records]);
    expect(tail.stdout).not.toMatch(/sealedIp|203\.0\.113/);
    const newest = await weirCommand('tail', 'events.enriched', '--site', siteId, '-n', '3', '--json');
    expect(
      newest.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).site_id),
    ).toEqual([siteId, siteId, siteId]);
    const offsets = (views: unknown) => JSON.stringify(views).match(/"(?:committed|end)_offset":\d+/g);
    expect(offsets(await weir.client.must(200, 'GET', '/pipeline'))).toEqual(offsets(before));
  });
});

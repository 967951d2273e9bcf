import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { runWeir } from '@weir/testkit/weir-process';
import { useWeir } from '../use-weir.ts';
import { makeExportTraffic } from './export-traffic.ts';

const client = useWeir();
const folder = mkdtempSync(join(tmpdir(), 'weir-tables-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let site = '';
beforeAll(async () => {
  site = await client.createSite();
  await makeExportTraffic(client, site);
});

const run = (...args: readonly string[]) => runWeir(client, ['export', ...args, '--site', site]);
async function text(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/^exported \d+\.\d MB in /) });
  return stdout;
}
const lines = (output: string): readonly string[] => output.split('\n').filter((line) => line !== '');
const json = async (...args: readonly string[]) =>
  lines(await text(...args)).map((line) => JSON.parse(line) as Record<string, unknown>);
const count = (from: string) => client.number(`SELECT count() FROM ${from}`, { site });

/** Reads exported files with a separate chDB, because Weir's own SQL interface does not allow `file()`. */
function readFiles(query: string): readonly Record<string, unknown>[] {
  const program = `const { query } = require('chdb'); process.stdout.write(query(${JSON.stringify(query)}, 'JSONEachRow'))`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ['-e', program], {
    encoding: 'utf8',
    cwd: process.cwd(),
  });
  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  return lines(stdout).map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe('weir export: each table in each format', () => {
  test.each(['events', 'sessions', 'profiles', 'payments'])('%s', async (kind) => {
    const rows = await count(`${kind} WHERE site_id = {site:String}`);
    expect(rows).toBeGreaterThan(1);
    const objects = await json(kind);
    expect(objects.length).toBe(rows);
    const columns = Object.keys(objects[0] ?? {});

    const parquet = join(folder, `${kind}.parquet`);
    expect((await run(kind, '--format', 'parquet', '--to', parquet)).code).toBe(0);
    const csv = join(folder, `${kind}.csv`);
    expect((await run(kind, '--format', 'csv', '--to', csv)).code).toBe(0);
    const [head = ''] = readFileSync(csv, 'utf8').split('\n');
    expect(head).toBe(columns.map((column) => `"${column}"`).join(','));
    for (const [path, format] of [
      [parquet, 'Parquet'],
      [csv, 'CSVWithNames'],
    ]) {
      expect(
        readFiles(`SELECT count() AS rows, uniqExact(site_id) AS sites FROM file('${path}', '${format}')`),
      ).toEqual([{ rows, sites: 1 }]);
    }
    const types = readFiles(`DESCRIBE file('${parquet}', 'Parquet')`).map(({ name, type }) => `${name} ${type}`);
    expect(types.map((type) => type.split(' ')[0])).toEqual(columns);
    if (kind === 'events') expect(types.join()).toMatch(/timestamp (Nullable\()?DateTime64\(3, 'UTC'\)/);
  });

  test('properties: an object in ndjson, a JSON text in csv and parquet, with every digit', async () => {
    const output = await text('events', '--filter', 'event:is:exact');
    expect(output).toContain('"big":9007199254740993');
    expect(output).toContain('"timestamp":"2');
    const parquet = join(folder, 'properties.parquet');
    await run('events', '--filter', 'event:is:exact', '--format', 'parquet', '--to', parquet);
    const [row] = readFiles(`SELECT properties FROM file('${parquet}', 'Parquet')`);
    expect(String(row?.properties)).toContain('"big":9007199254740993');
  });

  test('a text that a spreadsheet would run as a formula is a text', async () => {
    const csv = await text('events', '--format', 'csv', '--filter', 'event:is:=formula');
    expect(csv).toContain(`"'=formula"`);
    expect(await text('events', '--filter', 'event:is:=formula')).toContain('"event_name":"=formula"');
  });

  test('each first character with which a spreadsheet could begin a formula gets an apostrophe', async () => {
    const { site: other, key } = await client.createSiteWithKey();
    const names = ['=', '+', '-', '@', '\t', '\r', '\n'].map((first) => `${first}1`);
    for (const name of [...names, 'a=1']) expect((await client.events(key, { name })).status).toBe(202);
    await client.settled();
    const csv = (await client.admin('GET', `/sites/${other}/export/events?format=csv`)).text;
    for (const name of names) expect(csv).toContain(`"'${name}"`);
    expect(csv).toContain('"a=1"');
  });
});

describe('weir export: which rows', () => {
  test('filters of rows and of visits select what the reports count', async () => {
    const germany = await json('events', '--filter', 'country:is:DE');
    expect(germany.length).toBe(await count(`events WHERE site_id = {site:String} AND country = 'DE'`));
    const direct = await json('events', '--filter', 'channel:is:Direct', '--filter', 'bot:is:');
    const { totals } = (await client.must(200, 'GET', `/sites/${site}/stats?period=all&filter=channel:is:Direct`)) as {
      totals: { pageviews: number; visits: number };
    };
    expect(direct.filter(({ type }) => type === 'pageview').length).toBe(totals.pageviews);
    const sessions = await json('sessions', '--filter', 'channel:is:Direct');
    expect(sessions.length).toBe(totals.visits);
    expect(new Set(sessions.map(({ channel }) => channel))).toEqual(new Set(['Direct']));
  });

  test('--since and --until', async () => {
    const day = ['--since', '2026-03-30', '--until', '2026-03-31T00:00:00Z'];
    const within = (time: string) =>
      `WHERE site_id = {site:String} AND ${time} >= '2026-03-30 00:00:00' AND ${time} < '2026-03-31 00:00:00'`;
    expect((await json('events', ...day)).length).toBe(await count(`events ${within('timestamp')}`));
    expect((await json('sessions', ...day)).length).toBe(await count(`sessions ${within('started_at')}`));
    expect((await json('sessions', ...day, '--filter', 'bot:is:')).length).toBe(
      await count(`sessions ${within('started_at')}`),
    );
    expect(await text('payments', '--until', '2025-01-01')).toBe('');
  });

  test.each([
    [['events', '--since', 'yesterday'], 'since must be an ISO 8601'],
    [['events', '--since', '1764000000'], 'this looks like seconds'],
    [['events', '--since', '2026-02-01', '--until', '2026-01-01'], 'until must be later than since'],
    [['profiles', '--filter', 'country:is:DE'], 'filter is only for events and sessions'],
    [['events', '--filter', 'country:DE'], 'filter must be'],
    [['everything', '--format', 'csv'], 'format must be ndjson'],
  ])('%p is refused', async (args, reason) => {
    const { code, stdout, stderr } = await run(...args);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(reason);
  });

  test('an unknown kind, site or parameter', async () => {
    expect((await client.admin('GET', `/sites/${site}/export/keys`)).status).toBe(400);
    expect((await client.admin('GET', '/sites/none/export/events')).status).toBe(404);
    expect((await client.admin('GET', `/sites/${site}/export/events?limit=1`)).status).toBe(400);
    expect((await client.send({ path: `/api/admin/sites/${site}/export/events` })).status).toBe(401);
    const head = await client.admin('HEAD', `/sites/${site}/export/events?format=csv`);
    expect([head.status, head.headers['content-type'], head.text]).toEqual([
      200,
      'text/csv; charset=utf-8; header=present',
      '',
    ]);
  });
});

describe('weir export --to', () => {
  test('the file has its name when it is complete; a name in .gz is compressed', async () => {
    const path = join(folder, 'events.ndjson.gz');
    writeFileSync(path, 'of before');
    expect(await run('events', '--to', path)).toMatchObject({ code: 0, stdout: '' });
    expect(lines(gunzipSync(readFileSync(path)).toString()).length).toBe(
      await count('events WHERE site_id = {site:String}'),
    );
    expect(existsSync(`${path}.part`)).toBe(false);
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  test('an export that cannot be written leaves what was there', async () => {
    const path = join(folder, 'kept.csv');
    writeFileSync(path, 'of before');
    writeFileSync(`${path}.part`, 'of another export');
    const blocked = await run('events', '--to', path);
    expect([blocked.code, blocked.stderr]).toEqual([2, expect.stringContaining('another export writes it')]);
    expect(readFileSync(path, 'utf8') + readFileSync(`${path}.part`, 'utf8')).toBe('of beforeof another export');
    const device = await run('events', '--to', '/dev/null');
    expect([device.code, device.stderr]).toEqual([2, expect.stringContaining('is no regular file')]);
    const nowhere = await run('events', '--to', join(folder, 'none', 'x.csv'));
    expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringMatching(/^weir: can't write /)]);
  });
});

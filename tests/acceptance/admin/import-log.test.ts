import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { eventually } from '@weir/testkit/eventually';
import { generateAccessLog, readAccessLine, readAccessLog } from '@weir/testkit/sample-access-log';
import { bareEnv, commandEnv, mustRunWeir, PROJECT_ROOT, runWeir } from '@weir/testkit/weir-process';
import { useWeir } from '../use-weir.ts';

const client = useWeir();
const folder = mkdtempSync(join(tmpdir(), 'weir-import-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The file endings that `weir import --help` lists as assets. */
const ASSETS =
  /\.(css|js|mjs|cjs|map|wasm|webmanifest|png|jpg|jpeg|gif|svg|webp|avif|ico|bmp|tif|tiff|cur|woff|woff2|ttf|otf|eot|mp3|mp4|m4a|m4v|webm|ogg|ogv|oga|wav|flac|mov|avi|swf|flv)$/i;

/** Files that programs fetch and that an import skips. The sample log has no other files of this kind. */
const FOR_PROGRAMS = /\/(robots\.txt|sitemap[^/]*\.xml(\.gz)?)$/i;

const { text, origin } = readAccessLog();
const lines = text.split('\n').filter((line) => line !== '');
const pageviews = lines.flatMap((line) => {
  const read = readAccessLine(line);
  const path = read?.path.split(/[?#]/)[0] ?? '';
  return read?.method === 'GET' &&
    read.status >= 200 &&
    read.status < 400 &&
    !ASSETS.test(path) &&
    !FOR_PROGRAMS.test(path)
    ? [read]
    : [];
});

const file = (name: string, content: string | Buffer): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
async function importLog(site: string, source: string, input?: Buffer) {
  const run = await runWeir(client, ['import', source, '--site', site, '--json'], input);
  expect({ code: run.code, stderr: run.code === 0 ? '' : run.stderr }).toEqual({ code: 0, stderr: '' });
  return run;
}
const count = (site: string) => client.number('SELECT count() FROM events WHERE site_id = {site:String}', { site });

/**
 * Compresses with the program `zstd` if it is installed. Otherwise writes a frame of uncompressed blocks, which is also valid
 * zstd.
 */
function zstd(content: Buffer): Buffer {
  const { status, stdout } = spawnSync('zstd', ['-c'], { input: content, maxBuffer: 2 ** 28 });
  if (status === 0) return stdout;
  const parts: Buffer[] = [Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0])];
  parts[0]?.writeUInt32LE(content.length, 5);
  for (let at = 0; at < content.length; at += 131_072) {
    const block = content.subarray(at, at + 131_072);
    const header = Buffer.alloc(3);
    header.writeUIntLE((block.length << 3) | (at + 131_072 >= content.length ? 1 : 0), 0, 3);
    parts.push(header, block);
  }
  return Buffer.concat(parts);
}

describe(`weir import of the ${origin} log of ${lines.length} lines`, () => {
  test('every page view becomes exactly one row, from a file or a pipe, compressed or not', async () => {
    const site = await client.createSite({ domain: 'semicomplete.com' });
    const gzip = file('access.log.gz', gzipSync(text));
    const { stdout } = await importLog(site, gzip);
    expect(stdout).toContain(String(pageviews.length));
    await client.settled();
    expect(await count(site)).toBe(pageviews.length);

    await importLog(site, gzip);
    await importLog(site, file('access.log', text));
    await importLog(site, file('access.log.zst', zstd(Buffer.from(text))));
    await importLog(site, '-', Buffer.from(text));
    await importLog(site, '-', gzipSync(text));
    await client.settled();
    expect(await count(site)).toBe(pageviews.length);
    await client.balanced();

    const [times] = await client.sql(
      `SELECT min(toUnixTimestamp64Milli(timestamp)) AS first, max(toUnixTimestamp64Milli(timestamp)) AS last,
         countIf(source != 'import') AS foreign, countIf(type != 'pageview') AS others, countIf(bot != '') AS bots,
         uniqExact(pathname) AS paths, uniqExact(country) AS countries, uniqExact(browser) AS browsers, uniqExact(channel) AS channels
       FROM events WHERE site_id = {site:String}`,
      { site },
    );
    expect([times?.first, times?.last, times?.foreign, times?.others].map(Number)).toEqual([
      Math.min(...pageviews.map((line) => line.timeMs)),
      Math.max(...pageviews.map((line) => line.timeMs)),
      0,
      0,
    ]);
    for (const name of ['bots', 'paths', 'browsers', 'channels']) expect(Number(times?.[name])).toBeGreaterThan(1);
    if (origin === 'real') expect(Number(times?.countries)).toBeGreaterThan(20);
    const addresses = [...new Set(pageviews.map((line) => line.ip))].slice(0, 250);
    const query = `SELECT count() FROM events WHERE site_id = {site:String} AND multiSearchAny(toString(tuple(referrer, visitor_id, url, user_id)), {ips:Array(String)})`;
    expect(await client.number(query, { site, ips: addresses })).toBe(0);
  });

  test('the same log can also be imported into another site', async () => {
    const site = await client.createSite();
    await importLog(site, file('other.log', text));
    await client.settled();
    expect(await count(site)).toBe(pageviews.length);
  });

  test('exclusion rules drop imported hits too', async () => {
    const site = await client.createSite();
    await client.must(201, 'POST', `/sites/${site}/exclusions`, { type: 'bots' });
    await importLog(site, file('bots.log', text));
    await client.settled();
    const dropped = await client.number(
      "SELECT count() FROM outcomes WHERE site_id = {site:String} AND outcome = 'dropped'",
      { site },
    );
    expect(dropped).toBeGreaterThan(0);
    expect((await count(site)) + dropped).toBe(pageviews.length);
  });
});

describe('weir import: lines', () => {
  test('a bad line is reported with its number and skipped', async () => {
    const site = await client.createSite();
    const good = generateAccessLog(3).split('\n').slice(0, 3);
    const log = [good[0], 'this is no line of a log', good[2], '', '\u0000\u0001'].join('\n');
    const run = await runWeir(client, ['import', file('bad.log', log), '--site', site]);
    expect(run.code).toBe(0);
    expect(run.stdout + run.stderr).toMatch(/line 2\b|:2\b/);
    await client.settled();
    expect(await count(site)).toBe(2);
  });

  test('the common format, JSON lines, and a last line without a line feed', async () => {
    const site = await client.createSite();
    const common = '203.0.113.5 - - [17/May/2026:10:05:03 +0200] "GET /common?x=1 HTTP/1.1" 200 12';
    const json = '{"time":"2026-05-17T10:05:03Z","ip":"203.0.113.6","method":"GET","url":"/json","status":200}';
    for (const [name, format, log] of [
      ['common.log', 'common', common],
      ['lines.json', 'json', json],
    ] as const) {
      await mustRunWeir(client, 'import', file(name, log), '--site', site, '--format', format);
    }
    const rows = await client.rows('events', site, 2, 'pathname, bot, toUnixTimestamp64Milli(timestamp) AS ms');
    // These log lines have no user agent, so Weir cannot detect that their clients are bots.
    expect(rows.map((row) => row.bot)).toEqual(['', '']);
    expect(rows.map((row) => `${row.pathname} ${new Date(Number(row.ms)).toISOString()}`).toSorted()).toEqual([
      '/common 2026-05-17T08:05:03.000Z',
      '/json 2026-05-17T10:05:03.000Z',
    ]);
  });
});

describe('weir import: an interrupted import continues where it stopped', () => {
  test('after two kills with -9, the counts are those of one complete import', async () => {
    const site = await client.createSite();
    const log = generateAccessLog(30_000);
    const path = file('long.log', log);
    const whole = log.split('\n').filter((line) => {
      const read = readAccessLine(line);
      return read?.method === 'GET' && read.status < 400 && !ASSETS.test(read.path.split('?')[0] ?? '');
    }).length;
    for (const share of [0.1, 0.4]) {
      const child = spawn(process.execPath, [join(PROJECT_ROOT, 'dist/weir.js'), 'import', path, '--site', site], {
        env: bareEnv(commandEnv(client)),
        stdio: 'ignore',
      });
      await eventually('a part to be imported', async () => ended(child) || (await count(site)) > whole * share);
      child.kill('SIGKILL');
    }
    await importLog(site, path);
    await client.settled();
    expect(await count(site)).toBe(whole);
    await client.balanced();
  });
});

function ended(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

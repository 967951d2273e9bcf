import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { accessLogSample } from './access-log-sample.ts';
import { cli } from './cli-harness.ts';
import { useControl } from './use-control.ts';

const line = (path: string, status = 200) =>
  `192.0.2.1 - - [17/May/2015:10:05:03 +0000] "GET ${path} HTTP/1.1" ${status} 1 "-" "Mozilla/5.0 (X11; Linux x86_64; rv:25.0) Gecko/20100101 Firefox/25.0"\n`;

const { weir, env, file } = useControl();

async function newSite(): Promise<string> {
  return (await cli(['site', 'add', 'example.com', '--json'], { env })).json.site_id;
}
async function rows(site: string): Promise<number> {
  const query = 'SELECT count() AS rows FROM events WHERE site_id = {site:String}';
  return Number((await cli(['sql', query, '--param', `site=${site}`, '--json'], { env })).json.rows[0].rows);
}

describe('the log of 10,000 requests', () => {
  test('is imported; importing it a second time does not change the counts', async () => {
    const site = await newSite();
    const { bytes, pageviews } = accessLogSample();
    const path = file('access.log.gz', gzipSync(bytes));
    const run = await cli(['import', path, '--site', site, '--json'], { env });
    expect(run.json).toMatchObject({ lines: 10_000, rows_appended: pageviews, bad_lines: 0, queryable: true });
    expect(await rows(site)).toBe(pageviews);

    // The same content without compression, and through a pipe, counts as the same file.
    const again = await cli(['import', '-', '--site', site, '--json'], { env, stdin: Readable.from([bytes]) });
    expect([again.exitCode, again.json]).toMatchObject([0, { rows_appended: 0, lines_before: 10_000 }]);
    expect(await rows(site)).toBe(pageviews);
    expect((await cli(['audit', '--json'], { env })).json.balanced).toBe(true);
    console.log(`import of 10,000 lines: ${run.json.seconds} s`);
  });
});

test('skipped lines are counted by reason; bad lines are shown with their number', async () => {
  const site = await newSite();
  const bad = Array.from({ length: 12 }, () => 'nonsense\n').join('');
  const path = file(
    'mixed.log',
    `${line('/a')}${line('/x.css')}${line('/gone', 404)}${line('/b').replace('GET', 'POST')}\n${bad}${line('/c').trimEnd()}`,
  );
  const run = await cli(['import', path, '--site', site, '--json'], { env });
  expect(run.json).toMatchObject({
    lines: 18,
    rows_appended: 2,
    skipped: { asset: 1, status: 1, method: 1, blank: 1 },
    bad_lines: 12,
  });
  expect(run.err).toContain('line 6: not a line of an access log');
  expect(run.err).toContain('line 15:');
  expect(run.err).not.toContain('line 16:');
  expect(run.err).toContain('and 2 more bad lines');
  const human = await cli(['import', path, '--site', site], { env });
  expect(human.out).toMatch(/^This file was imported before: no rows were added\.\nrows appended +0/);
});

test('a file without a readable line is refused, and can be imported in another format', async () => {
  const site = await newSite();
  const path = file('wrong-format.log', `\n${line('/a')}${line('/b')}`);
  const wrong = await cli(['import', path, '--site', site, '--format', 'json'], { env });
  expect(wrong).toMatchObject({
    exitCode: 1,
    out: '',
    err: expect.stringMatching(
      /^weir: no line can be read as json, so nothing was imported \(line 2: .+\): check the file, and --format\n$/,
    ),
  });
  expect((await cli(['import', path, '--site', site, '--json'], { env })).json).toMatchObject({ rows_appended: 2 });
  const other = await cli(['import', file('page.html', '<p>\n</p>\n'), '--site', site], { env });
  expect([other.exitCode, other.err]).toEqual([1, expect.stringContaining('no line can be read as combined, common')]);
  const blank = await cli(['import', file('blank.log', '\n\n'), '--site', site, '--json'], { env });
  expect([blank.exitCode, blank.json.skipped.blank]).toEqual([0, 2]);
});

test('an empty file adds no rows; empty standard input is an error', async () => {
  const site = await newSite();
  for (const path of [file('empty.log', ''), file('empty.log.gz', gzipSync(''))]) {
    const run = await cli(['import', path, '--site', site], { env });
    expect(run).toMatchObject({ exitCode: 0, out: 'The file contains nothing to import.\n' });
  }
  const piped = await cli(['import', '-', '--site', site], { env, stdin: Readable.from([]) });
  expect(piped).toMatchObject({ exitCode: 1, out: '', err: expect.stringMatching(/^weir: standard input is empty/) });
});

test('a pipe that has a path, as the shell makes it for <(zcat access.log.gz), is read as a file', async () => {
  const site = await newSite();
  const pipe = join(weir.folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const [run] = await Promise.all([
    cli(['import', pipe, '--site', site, '--json'], { env }),
    writeFile(pipe, `${line('/a')}${line('/b')}`),
  ]);
  expect([run.err, run.json]).toMatchObject(['', { lines: 2, rows_appended: 2 }]);
  const [empty] = await Promise.all([cli(['import', pipe, '--site', site], { env }), writeFile(pipe, '')]);
  expect(empty).toMatchObject({ exitCode: 1, err: expect.stringMatching(/^weir: .*\/pipe is empty, nothing was/) });
});

test('an interrupted import continues where it stopped', async () => {
  const site = await newSite();
  const text = Array.from({ length: 6500 }, (_, index) => line(`/p/${index}`)).join('');
  const path = file('long.log', text);
  const interruption = new AbortController();
  let said = '';
  const stderr = new Writable({
    write(chunk, _encoding, done) {
      said += chunk;
      if (/^[1-9]\d* of 6500 lines/m.test(said)) interruption.abort();
      done();
    },
  });
  // With a clock that is so fast, each change of the progress is printed.
  let now = 0;
  const clock = () => {
    now += 2_000;
    return now;
  };
  const first = await cli(['import', path, '--site', site], {
    ...{ env, clock, stderr },
    interruption: () => interruption.signal,
  });
  expect(first.exitCode).toBe(130);
  // The file is first read as a whole.
  expect(said).toMatch(/^(?:1 of 1 MB, .*, done\n)+0 of 6500 lines, .*\n(?:.*\n)*weir: interrupted after line [1-9]/);
  const second = await cli(['import', path, '--site', site, '--json'], { env });
  expect(second.json.lines_before).toBeGreaterThan(0);
  expect(second.json.lines_before + second.json.rows_appended).toBe(6500);
  expect(await rows(site)).toBe(6500);
});

test('an unreadable file gives a one-line message and exit code 1 or 2', async () => {
  const site = await newSite();
  const missing = await cli(['import', join(weir.folder, 'none.log'), '--site', site], { env });
  expect([missing.exitCode, missing.err]).toEqual([2, expect.stringMatching(/^weir: no such file/)]);
  const inFile = await cli(['import', join(file('a.log', line('/')), 'b.log'), '--site', site], { env });
  expect([inFile.exitCode, inFile.err]).toEqual([1, expect.stringMatching(/^weir: can't read .*\/b\.log: ENOTDIR/)]);
  const broken = file('broken.gz', gzipSync(Buffer.from(line('/'))).subarray(0, 40));
  const run = await cli(['import', broken, '--site', site], { env });
  expect([run.exitCode, run.err]).toEqual([1, expect.stringMatching(/^weir: can't read/)]);
  expect((await cli(['import', weir.folder, '--site', site], { env })).exitCode).toBe(1);
  expect((await cli(['import', broken, '--site', 'none'], { env })).err).toBe('weir: site not found\n');
});

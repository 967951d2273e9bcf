import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mustRunWeir, runWeir } from '@weir/testkit/weir-process';
import { useWeir } from '../use-weir.ts';

const weir = useWeir();
const folder = mkdtempSync(join(tmpdir(), 'weir-import-formats-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Summary {
  readonly rows_appended: number;
  readonly bad_lines: number;
  readonly skipped: Readonly<Record<string, number>>;
}

let files = 0;
function file(content: string | Buffer): string {
  files += 1;
  const path = join(folder, `${files}.log`);
  writeFileSync(path, content);
  return path;
}
const importOf = (path: string, site: string, ...more: readonly string[]) =>
  ['import', path, '--site', site, '--json', ...more] as const;
async function imported(path: string, site: string, ...more: readonly string[]): Promise<Summary> {
  return JSON.parse(await mustRunWeir(weir, ...importOf(path, site, ...more))) as Summary;
}
const line = (head: string, path: string) =>
  `${head} [17/May/2026:10:05:03 +0000] "GET ${path} HTTP/1.1" 200 12 "-" "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0"\n`;

/** Visits of two virtual hosts and of clients in two countries. The test writes these visits in each of the `FORMATS`. */
const VISITS = [
  { host: 'www.shop.example', ip: '8.8.8.8', country: 'US', path: '/one?x=1' },
  { host: 'blog.shop.example', ip: '194.25.0.60', country: 'DE', path: '/two' },
];
const FORMATS: Readonly<Record<string, (visit: (typeof VISITS)[number]) => string>> = {
  vhost_combined: ({ host, ip }) => `${host}:443 ${ip} - -`,
  vhost: ({ host, ip }) => `${host} ${ip} - frank`,
  ovh: ({ host, ip }) => `${ip} ${host} -`,
};

describe.each(Object.entries(FORMATS))('weir import: %s', (format, head) => {
  const log = VISITS.map((visit) => line(head(visit), visit.path)).join('');

  test.each([
    ['detected', []],
    ['named', ['--format', format]],
  ])('address, country and host are right: the format is %s', async (_, more) => {
    const site = await weir.createSite({ domain: 'shop.example' });
    const path = file(log);
    expect(await imported(path, site, ...more)).toMatchObject({ rows_appended: 2, bad_lines: 0 });
    expect(await imported(path, site)).toMatchObject({ rows_appended: 0 });
    const rows = await weir.rows('events', site, 2, 'hostname, url, country');
    expect(rows.toSorted((a, b) => String(b.hostname).localeCompare(String(a.hostname)))).toEqual(
      VISITS.map(({ host, path: page, country }) => ({ hostname: host, url: `https://${host}${page}`, country })),
    );
  });

  test('if the format `combined` is given, these lines are bad lines, and the file is refused', async () => {
    const site = await weir.createSite();
    const run = await runWeir(weir, importOf(file(log), site, '--format', 'combined'));
    expect(run).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/line 1: .*virtual host/) });
  });
});

test('a line whose client is neither an address nor a host name is a bad line', async () => {
  const site = await weir.createSite();
  const log = line('192.0.2.1 - -', '/a') + line('300.1.1.1 - -', '/b') + line('client.example.net - -', '/c');
  const run = await runWeir(weir, importOf(file(log), site));
  expect(JSON.parse(run.stdout)).toMatchObject({ rows_appended: 2, bad_lines: 1 });
  expect(run.stderr).toContain('line 2: the client is neither an IP address nor a host name');
});

test('files that programs fetch are not page views; they are counted by reason', async () => {
  const site = await weir.createSite();
  const paths = {
    robots: ['/robots.txt'],
    sitemap: ['/sitemap.xml', '/sitemap_index.xml', '/sitemap-1.xml.gz'],
    feed: ['/feed/', '/blog/feed', '/rss.xml', '/atom.xml', '/index.rss'],
    asset: ['/favicon.ico', '/favicon.svg', '/apple-touch-icon.png', '/apple-touch-icon-precomposed'],
    well_known: ['/.well-known/security.txt'],
    ads_txt: ['/ads.txt', '/app-ads.txt'],
  };
  const all = [...Object.values(paths).flat(), '/page', '/feedback', '/roads.txt'];
  const summary = await imported(file(all.map((path) => line('192.0.2.1 - -', path)).join('')), site);
  expect(summary.rows_appended).toBe(3);
  expect(summary.skipped).toMatchObject(
    Object.fromEntries(Object.entries(paths).map(([reason, { length }]) => [reason, length])),
  );
});

test('a bzip2 file is refused; the message names bzip2 and the command that decompresses it', async () => {
  const site = await weir.createSite();
  const run = await runWeir(weir, importOf(file(Buffer.from('425a683917724538509000000000', 'hex')), site));
  expect(run.code).not.toBe(0);
  expect(run.stderr).toMatch(/bzip2 is not supported.*bzip2 -dc FILE \| weir import - --site SITE/);
});

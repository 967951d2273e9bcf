import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import type { WeirClient } from '@weir/testkit/weir-client';
import { runProgram } from '@weir/testkit/weir-process';
import { ACCEPTANCE_ENV, describeOwnProcess, useOwnWeir, useWeir } from '../use-weir.ts';
import { makeExportTraffic } from './export-traffic.ts';

const client = useWeir();
const folder = mkdtempSync(join(tmpdir(), 'weir-export-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const weir = (of: WeirClient, ...args: readonly string[]) =>
  runProgram('weir.js', args, { WEIR_URL: of.urls[0] ?? '', WEIR_ADMIN_TOKEN: of.adminToken });
async function must(of: WeirClient, ...args: readonly string[]) {
  const run = await weir(of, ...args);
  expect({ args, code: run.code, stderr: run.code === 0 ? '' : run.stderr }).toEqual({ args, code: 0, stderr: '' });
  return run;
}
async function importDump(of: WeirClient, path: string, site: string) {
  const { stdout } = await must(of, 'import', path, '--site', site, '--format', 'weir', '--json');
  await of.settled();
  return JSON.parse(stdout) as { readonly rows_appended: number; readonly rows_known: number; readonly lines: number };
}

const DIMENSIONS = (
  'page hostname entry exit source channel referrer utm_source utm_medium utm_campaign utm_term utm_content country region city ' +
  'language browser browser_version os os_version device event origin bot property:plan property:big property:a.b property:list'
).split(' ');

/** The answers of all reports of a site, one line for each value, so that two sites can be compared. */
async function reports(of: WeirClient, site: string): Promise<readonly string[]> {
  const ask = async (path: string) => (await of.must(200, 'GET', `/sites/${site}/${path}`)) as Record<string, unknown>;
  const { explain, totals, buckets, timezone } = await ask('stats?period=all&interval=day&bots=include&explain=1');
  const { left_out } = explain as { left_out: object };
  const lines = [
    JSON.stringify({ totals, timezone, left_out }),
    ...(buckets as object[]).map((one) => JSON.stringify(one)),
  ];
  for (const dimension of DIMENSIONS) {
    const { rows } = await ask(
      `breakdown?period=all&bots=include&limit=1000&dimension=${encodeURIComponent(dimension)}`,
    );
    lines.push(...(rows as object[]).map((row) => `${dimension}: ${JSON.stringify(row)}`));
  }
  return lines;
}

/** Columns with IDs that Weir computes from the site ID, by table. They differ in another site. */
const SITE_IDS: Readonly<Record<string, readonly string[]>> = {
  people_events: ['site_id', 'session_id', 'profile_id', 'profile_id_then'],
  sessions: ['site_id', 'session_id'],
  profiles: ['site_id', 'profile_id'],
  payments: ['site_id', 'session_id', 'profile_id'],
  payment_totals: ['site_id'],
  payment_customers: ['site_id', 'profile_id'],
  outcomes: ['site_id'],
  links_in_time: ['site_id', 'profile_id'],
};
const POSITION = ['log_id', 'raw_partition', 'raw_offset'];

/** Every row of every table of a site, as lines. */
async function tables(of: WeirClient, site: string, withSiteIds: boolean): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const [table, siteIds] of Object.entries(SITE_IDS)) {
    const position = table === 'people_events' || table === 'outcomes' ? POSITION : [];
    const except = [...(withSiteIds ? [] : siteIds), ...position];
    const columns = except.length === 0 ? '*' : `* EXCEPT (${except.join(', ')})`;
    const rows = await of.sql(`SELECT ${columns} FROM ${table} WHERE site_id = {site:String}`, { site });
    lines.push(...rows.map((row) => `${table}: ${JSON.stringify(row)}`));
  }
  return lines.toSorted();
}

type Lines = () => Promise<readonly string[]>;

/**
 * Resolves when both functions return the same lines. The message shows only the first lines that differ, because all lines would be
 * megabytes.
 */
function expectSame(what: string, found: Lines, expected: Lines): Promise<boolean> {
  const without = (all: readonly string[], others: readonly string[]) => {
    const known = new Set(others);
    return all.filter((line) => !known.has(line)).slice(0, 5);
  };
  return eventually(`the same ${what}`, async () => {
    const [one, other] = [await found(), await expected()];
    expect({ missing: without(other, one), added: without(one, other) }).toEqual({ missing: [], added: [] });
    return one.length === other.length;
  });
}

describe('weir export everything, then weir import', () => {
  let site = '';
  let dump = '';
  beforeAll(async () => {
    site = await client.createSite({ site_id: 'exported', timezone: 'Europe/Berlin' });
    await makeExportTraffic(client, site);
    dump = join(folder, 'site.ndjson.gz');
    await must(client, 'export', 'everything', '--site', site, '--to', dump);
  });

  test('the traffic has something of everything', async () => {
    const found = (await tables(client, site, true)).join('\n');
    const parts = [
      ...Object.keys(SITE_IDS).map((table) => `${table}: `),
      'unlink',
      'excluded_path',
      '9007199254740993',
    ];
    parts.push('-3.000000000000000001', 'known_bot', 'named', 'blue');
    expect(parts.filter((part) => !found.includes(part))).toEqual([]);
  });

  test('another site: every report is equal, and every column that is not computed of the site', async () => {
    const copy = await client.createSite({ timezone: 'Europe/Berlin' });
    const imported = await importDump(client, dump, copy);
    expect(imported).toMatchObject({ rows_appended: imported.lines, rows_known: 0 });
    await expectSame(
      'reports',
      () => reports(client, copy),
      () => reports(client, site),
    );
    await expectSame(
      'rows',
      () => tables(client, copy, false),
      () => tables(client, site, false),
    );
    await client.balanced();
  });

  test('the site itself, and the same dump in another file: no row is added', async () => {
    const known = await importDump(client, dump, site);
    expect(known).toMatchObject({ rows_appended: 0, rows_known: known.lines });
    const again = join(folder, 'again.ndjson');
    await must(client, 'export', 'everything', '--site', site, '--to', again);
    const copy = await client.createSite({ timezone: 'Europe/Berlin' });
    await importDump(client, dump, copy);
    expect(await importDump(client, again, copy)).toMatchObject({ rows_appended: 0 });
    await expectSame(
      'reports',
      () => reports(client, copy),
      () => reports(client, site),
    );
  });

  test('a part of the time, then all of it: each row once', async () => {
    const part = join(folder, 'part.ndjson');
    await must(
      client,
      'export',
      'everything',
      '--site',
      site,
      '--to',
      part,
      '--since',
      '2026-03-30',
      '--until',
      '2026-04-03',
    );
    const copy = await client.createSite({ timezone: 'Europe/Berlin' });
    const first = await importDump(client, part, copy);
    expect(first.rows_appended).toBeGreaterThan(0);
    const rest = await importDump(client, dump, copy);
    expect(rest.rows_known).toBe(first.rows_appended);
    await expectSame(
      'reports',
      () => reports(client, copy),
      () => reports(client, site),
    );
  });

  test('a dump that was cut or changed is refused before a row is imported', async () => {
    const copy = await client.createSite();
    const whole = join(folder, 'whole.ndjson');
    await must(client, 'export', 'everything', '--site', site, '--to', whole);
    const lines = readFileSync(whole, 'utf8').trimEnd().split('\n');
    const file = (name: string, content: readonly string[]): string => {
      const path = join(folder, name);
      writeFileSync(path, `${content.join('\n')}\n`);
      return path;
    };
    const refused = async (path: string) => (await weir(client, 'import', path, '--site', copy)).stderr;
    expect(await refused(file('cut.ndjson', lines.slice(0, -1)))).toContain('it is incomplete');
    expect(await refused(file('less.ndjson', lines.toSpliced(3, 1)))).toContain('it was changed');
    expect(await refused(file('old.ndjson', [lines[0]?.replace('"weir_dump":1', '"weir_dump":7') ?? '']))).toContain(
      'it has version 7',
    );
    const log = await weir(client, 'import', file('access.log', ['x']), '--site', copy, '--format', 'weir');
    expect(log.stderr).toContain('not a dump');
    const broken = await refused(file('broken.ndjson', lines.with(4, '["row"]')));
    expect(broken).toContain('line 5 of the dump: must have');
    expect(await client.number('SELECT count() FROM records WHERE site_id = {site:String}', { site: copy })).toBe(0);
  });

  describeOwnProcess('another Weir', () => {
    const other = useOwnWeir(ACCEPTANCE_ENV);

    test('the same site there: every report and every column is equal', async () => {
      await other.client.createSite({ site_id: site, timezone: 'Europe/Berlin' });
      await importDump(other.client, dump, site);
      await expectSame(
        'reports',
        () => reports(other.client, site),
        () => reports(client, site),
      );
      await expectSame(
        'rows',
        () => tables(other.client, site, true),
        () => tables(client, site, true),
      );
      await other.client.balanced();
    });
  });
});

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WeirClient } from '@weir/testkit/weir-client';
import { mustRunWeir, runWeir } from '@weir/testkit/weir-process';
import { ACCEPTANCE_ENV, describeOwnProcess, useOwnWeir, useWeir } from '../use-weir.ts';
import { makeExportTraffic } from './export-traffic.ts';
import { addGoals, expectSame, reportsOf, rowsOf, TABLES } from './site-reports.ts';

const client = useWeir();
const folder = mkdtempSync(join(tmpdir(), 'weir-export-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function importDump(of: WeirClient, path: string, site: string) {
  const stdout = await mustRunWeir(of, 'import', path, '--site', site, '--format', 'weir', '--json');
  await of.settled();
  return JSON.parse(stdout) as { readonly rows_appended: number; readonly rows_known: number; readonly lines: number };
}

describe('weir export everything, then weir import', () => {
  let site = '';
  let dump = '';
  const siteForCopy = async (): Promise<string> => {
    const copy = await client.createSite({ timezone: 'Europe/Berlin' });
    await addGoals(client, copy);
    return copy;
  };
  beforeAll(async () => {
    site = await client.createSite({ site_id: 'exported', timezone: 'Europe/Berlin' });
    await addGoals(client, site);
    await makeExportTraffic(client, site);
    dump = join(folder, 'site.ndjson.gz');
    await mustRunWeir(client, 'export', 'everything', '--site', site, '--to', dump);
  });

  test('the traffic has something of everything', async () => {
    const found = (await rowsOf(client, site, true)).join('\n');
    const parts = [...TABLES.map((table) => `${table}: `), 'unlink', 'excluded_path', '9007199254740993'];
    parts.push('-3.000000000000000001', 'known_bot', 'named', 'blue');
    expect(parts.filter((part) => !found.includes(part))).toEqual([]);
  });

  test('another site: every report is equal, and every column that is not computed of the site', async () => {
    const copy = await siteForCopy();
    const imported = await importDump(client, dump, copy);
    expect(imported).toMatchObject({ rows_appended: imported.lines, rows_known: 0 });
    await expectSame(
      'reports',
      () => reportsOf(client, copy),
      () => reportsOf(client, site),
    );
    await expectSame(
      'rows',
      () => rowsOf(client, copy, false),
      () => rowsOf(client, site, false),
    );
    await client.balanced();
  });

  test('the site itself, and the same dump in another file: no row is added', async () => {
    const known = await importDump(client, dump, site);
    expect(known).toMatchObject({ rows_appended: 0, rows_known: known.lines });
    const again = join(folder, 'again.ndjson');
    await mustRunWeir(client, 'export', 'everything', '--site', site, '--to', again);
    const copy = await siteForCopy();
    await importDump(client, dump, copy);
    expect(await importDump(client, again, copy)).toMatchObject({ rows_appended: 0 });
    await expectSame(
      'reports',
      () => reportsOf(client, copy),
      () => reportsOf(client, site),
    );
  });

  test('a part of the time, then all of it: each row once', async () => {
    const part = join(folder, 'part.ndjson');
    await mustRunWeir(
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
    const copy = await siteForCopy();
    const first = await importDump(client, part, copy);
    expect(first.rows_appended).toBeGreaterThan(0);
    const rest = await importDump(client, dump, copy);
    expect(rest.rows_known).toBe(first.rows_appended);
    await expectSame(
      'reports',
      () => reportsOf(client, copy),
      () => reportsOf(client, site),
    );
  });

  test('a dump that was cut or changed is refused before a row is imported', async () => {
    const copy = await client.createSite();
    const whole = join(folder, 'whole.ndjson');
    await mustRunWeir(client, 'export', 'everything', '--site', site, '--to', whole);
    const lines = readFileSync(whole, 'utf8').trimEnd().split('\n');
    const file = (name: string, content: readonly string[]): string => {
      const path = join(folder, name);
      writeFileSync(path, `${content.join('\n')}\n`);
      return path;
    };
    const refused = async (path: string) => (await runWeir(client, ['import', path, '--site', copy])).stderr;
    expect(await refused(file('cut.ndjson', lines.slice(0, -1)))).toContain('it is incomplete');
    expect(await refused(file('less.ndjson', lines.toSpliced(3, 1)))).toContain('it was changed');
    expect(await refused(file('old.ndjson', [lines[0]?.replace(/"weir_dump":\d+/, '"weir_dump":7') ?? '']))).toContain(
      'it has version 7',
    );
    const log = await runWeir(client, ['import', file('access.log', ['x']), '--site', copy, '--format', 'weir']);
    expect(log.stderr).toContain('not a dump');
    const broken = await refused(file('broken.ndjson', lines.with(4, '["row"]')));
    expect(broken).toContain('line 5 of the dump: must have');
    expect(await client.number('SELECT count() FROM records WHERE site_id = {site:String}', { site: copy })).toBe(0);
  });

  describeOwnProcess('another Weir', () => {
    const other = useOwnWeir(ACCEPTANCE_ENV);

    test('the same site there: every report and every column is equal', async () => {
      await other.client.createSite({ site_id: site, timezone: 'Europe/Berlin' });
      await addGoals(other.client, site);
      await importDump(other.client, dump, site);
      await expectSame(
        'reports',
        () => reportsOf(other.client, site),
        () => reportsOf(client, site),
      );
      await expectSame(
        'rows',
        () => rowsOf(other.client, site, true),
        () => rowsOf(client, site, true),
      );
      await other.client.balanced();
    });
  });
});

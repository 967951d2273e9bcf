import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mustRunWeir } from '@weir/testkit/weir-process';
import { generatedLines, importText } from '../reports/stats-traffic.ts';
import { ACCEPTANCE_ENV, describeOwnProcess, useOwnWeir } from '../use-weir.ts';
import { makeExportTraffic } from './export-traffic.ts';
import { addGoals, checksumsOf, expectSame, reportsOf } from './site-reports.ts';

/** The approximate number of generated events. `makeExportTraffic` adds records of other kinds. */
const EVENTS = Number(process.env.WEIR_EXPORT_EVENTS ?? 5_000);
const DAYS = 28;
const DAYS_PER_IMPORT = 7;
/** The average number of pages in a visit of `generatedLines`. */
const PAGES_PER_VISIT = 1.35;
const VISITORS = 1_000;
const FIRST_DAY = Date.UTC(2026, 2, 9);
const DAY_MS = 86_400_000;

describeOwnProcess('an export of many events', () => {
  const { client } = useOwnWeir(ACCEPTANCE_ENV);
  const folder = mkdtempSync(join(tmpdir(), 'weir-export-many-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const result = await work();
    process.stderr.write(`export of ${EVENTS} events: ${what}: ${Math.round(performance.now() - startedAt)} ms\n`);
    return result;
  }

  async function newSite(): Promise<string> {
    const site = await client.createSite({ timezone: 'Europe/Berlin' });
    await addGoals(client, site);
    return site;
  }

  test(`${EVENTS} events, imported into another site: every number of every report, and every row, is equal`, async () => {
    const site = await newSite();
    await timed('generate and store', async () => {
      for (let day = 0; day < DAYS; day += DAYS_PER_IMPORT) {
        const dayOf = (nth: number): string => new Date(FIRST_DAY + nth * DAY_MS).toISOString();
        const week = Array.from({ length: DAYS_PER_IMPORT }, (_, nth) => ({
          from: dayOf(day + nth),
          to: dayOf(day + nth + 1),
          edges: [],
        }));
        await importText(client, site, generatedLines(week, Math.ceil(EVENTS / DAYS / PAGES_PER_VISIT), VISITORS));
      }
      await makeExportTraffic(client, site);
    });
    const events = await client.number('SELECT count() FROM events WHERE site_id = {site:String}', { site });
    expect(events).toBeGreaterThan(EVENTS * 0.95);

    const dump = join(folder, 'site.ndjson.gz');
    await timed('export', () => mustRunWeir(client, 'export', 'everything', '--site', site, '--to', dump));
    const copy = await newSite();
    const imported = await timed('import', async () =>
      JSON.parse(await mustRunWeir(client, 'import', dump, '--site', copy, '--format', 'weir', '--json')),
    );
    await client.settled(3_600_000);
    expect(imported).toMatchObject({ rows_appended: imported.lines, rows_known: 0 });

    let compared = 0;
    await timed('compare the reports', () =>
      expectSame(
        'reports',
        async () => {
          const lines = await reportsOf(client, copy);
          compared = lines.length;
          return lines;
        },
        () => reportsOf(client, site),
      ),
    );
    await expectSame(
      'rows',
      () => checksumsOf(client, copy),
      () => checksumsOf(client, site),
    );
    await client.balanced();
    process.stderr.write(
      `export of ${events} events: ${imported.lines} rows, ${statSync(dump).size} bytes, ${compared} lines of reports are equal\n`,
    );
  }, 7_200_000);
});

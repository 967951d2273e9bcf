import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { openFileObjectStore } from '@weir/adapters/object-store/file-object-store';
import { eventually } from '@weir/testkit/eventually';
import { seededRandom } from '@weir/testkit/load';
import { startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import { archivedRecords } from '../../../services/archiver/test/archived-records.ts';
import { ACCEPTANCE_ENV, describeOwnProcess } from '../use-weir.ts';

const KILLS = Number(process.env.WEIR_FORGET_KILLS ?? 3);
const PERSONS = 40;

interface View {
  readonly phase: string;
  readonly problem: string | null;
}

/**
 * An ID with random characters, which no other text contains. A search in files finds copies that are stored as plain text, or as the first copy in a
 * block of LZ4. It can miss copies in a block of ZSTD: SQL looks for these.
 */
const newId = (who: string) => `${who}${randomBytes(16).toString('hex')}`;

describeOwnProcess('forgetting in a process of its own', () => {
  let weir: WeirProcess;
  let site: string;
  let key: string;
  const archive = mkdtempSync(join(tmpdir(), 'weir-forget-archive-'));
  const archived = { ARCHIVE_URL: pathToFileURL(archive).href, ARCHIVE_LINGER_SECONDS: '1' };
  beforeAll(async () => {
    weir = await startWeir({ env: { ...ACCEPTANCE_ENV, ...archived } });
    site = await weir.client.createSite();
    ({ key } = await weir.client.createKey(site));
  });
  afterAll(async () => {
    await weir?.stop();
    rmSync(archive, { recursive: true, force: true });
  });

  async function put(names: readonly string[]): Promise<void> {
    const items = names.flatMap((name) => [
      { name: 'visit', visitor_id: name, session_id: `s${name}`, properties: { plan: name } },
      { name: 'payment', value: '5', user_id: `u${name}`, properties: { currency: 'EUR' } },
    ]);
    await weir.client.sendBatch(key, items);
    for (const name of names)
      await weir.client.identify(key, { visitor_id: name, user_id: `u${name}`, email: `${name}@example.com` });
    await weir.client.settled();
  }
  async function done(erasureId: string): Promise<void> {
    await eventually('the erasure to be done', async () => {
      const { phase, problem } = (await weir.client.must(200, 'GET', `/erasures/${erasureId}`)) as View;
      if (phase !== 'done') throw new Error(`${phase}: ${problem}`);
      return true;
    });
  }
  const begin = async (body: object): Promise<string> =>
    ((await weir.client.must(202, 'POST', `/sites/${site}/erasures`, body)) as { erasure_id: string }).erasure_id;
  const tables = ['events', 'sessions', 'profiles', 'links_log', 'payments', 'people_seen', 'books'];
  const snapshot = async (): Promise<readonly string[]> => {
    const rows = tables.map((table) =>
      weir.client.sql(
        `SELECT * FROM ${table} WHERE site_id = {site:String} ${table === 'books' ? 'AND records != 0' : ''}`,
        { site },
      ),
    );
    return (await Promise.all(rows))
      .flat()
      .map((row) => JSON.stringify(row))
      .toSorted();
  };
  const bytesOf = (text: string): string =>
    execFileSync('sh', [
      '-c',
      `grep -rla '${text}' '${join(weir.dataDir, 'clickhouse')}' 2>/dev/null || true`,
    ]).toString();

  test(`kill -9 at ${KILLS} moments of an erasure: it goes on, and ends with the same tables, and an archive without the persons`, async () => {
    const seed = Date.now() % 1_000_000;
    const random = seededRandom(seed);
    const kept = Array.from({ length: PERSONS }, () => newId('kept'));
    await put(kept);
    const before = await snapshot();
    const store = openFileObjectStore(archive);
    for (let kill = 0; kill < KILLS; kill++) {
      const gone = Array.from({ length: PERSONS }, () => newId('gone'));
      await put(gone);
      const erasure = await begin({ users: gone.map((name) => `u${name}`) });
      await pause(random() * 1_500); // the kill must happen at a random moment, so the pause is part of the test
      await weir.kill9();
      await weir.restart();
      await done(erasure);
      const after = await snapshot();
      const erased = after.filter(
        (row) => row.includes('"erased"') || row.includes('"identify"') || row.includes('"row"'),
      );
      expect({ seed, rows: after.filter((row) => !erased.includes(row)) }).toEqual({
        seed,
        rows: before.filter((row) => !row.includes('"identify"') && !row.includes('"row"')),
      });
      const audit = await weir.client.must(200, 'GET', '/audit');
      expect(audit).toMatchObject({
        balanced: true,
        totals: { stored: 2 * PERSONS, identify: PERSONS, erased: 3 * PERSONS * (kill + 1), erasing: 0 },
      });
      const books =
        'SELECT outcome, sum(records) AS n FROM books WHERE site_id = {site:String} GROUP BY outcome HAVING n != 0 ORDER BY outcome';
      expect(await weir.client.sql(books, { site })).toEqual([
        { outcome: 'erased', n: 3 * PERSONS * (kill + 1) },
        { outcome: 'identify', n: PERSONS },
        { outcome: 'row', n: 2 * PERSONS },
      ]);
      for (const topic of ['events.raw', 'events.enriched']) {
        const lines = (await archivedRecords(store, topic)).map(({ value }) => Buffer.from(value).toString());
        expect({ seed, lines: lines.filter((line) => /gone[0-9a-f]{32}/.test(line)) }).toEqual({ seed, lines: [] });
      }
    }
  }, 300_000);

  test('when the replaced parts are gone, no file of ClickHouse has a byte of the person', async () => {
    const name = newId('bytes');
    await put([name]);
    expect(bytesOf(name)).not.toBe('');
    await done(await begin({ users: [`u${name}`], visitors: [name] }));
    // ClickHouse keeps replaced parts on disk for some time, also across a restart. So the test waits for their removal.
    expect(await weir.terminate()).toBe(0);
    await weir.restart();
    const isGone = (): true => {
      const files = bytesOf(name);
      if (files !== '') throw new Error(files);
      return true;
    };
    await eventually('the replaced parts to be gone', isGone, 240_000);
  }, 300_000);
});

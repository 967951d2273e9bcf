import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openFileObjectStore } from '@weir/adapters/object-store/file-object-store';
import { RECORDS_COLUMNS } from '@weir/domain/records/records-columns';
import { eventually } from '@weir/testkit/eventually';
import { seededRandom } from '@weir/testkit/load';
import { startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import { openEmbeddedOn } from '../../packages/adapters/test/clickhouse/clickhouse-harness.ts';
import { FAULTS_ENV, say } from './exactly-once.ts';

const DAY_MS = 86_400_000;
const DAYS = [3, 2];
const SITES = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'];
const EVENTS = 400;
const VISITORS = 20;
const WITHIN_MS = 120_000;
const CLOCK = pathToFileURL(join(__dirname, 'shift-clock.mjs')).href;

const folder = mkdtempSync(join(tmpdir(), 'weir-kill-parquet-'));
const dataDir = join(folder, 'data');
const archiveDir = join(folder, 'archive');
const archive = openFileObjectStore(archiveDir);
let running: WeirProcess | undefined;
afterAll(async () => {
  await running?.kill9();
  rmSync(folder, { recursive: true, force: true });
});

const start = (env: Readonly<Record<string, string>> = {}): Promise<WeirProcess> =>
  startWeir({
    dataDir,
    env: { ...FAULTS_ENV, ARCHIVE_URL: pathToFileURL(archiveDir).href, ARCHIVE_LINGER_SECONDS: '1', ...env },
  });

async function namesOf(prefix: string): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name } of archive.list(prefix)) names.push(name);
  return names;
}

/** Stores events of each site, which Weir receives this number of days before today. */
async function fillDay(daysAgo: number, random: () => number): Promise<void> {
  const weir = await start({
    NODE_OPTIONS: `--import ${CLOCK}`,
    CLOCK_SHIFT_MS: String(-daysAgo * DAY_MS),
    ARCHIVE_PARQUET: 'false',
  });
  const known = new Set((await weir.client.sql('SELECT DISTINCT site_id FROM records')).map((row) => row.site_id));
  for (const site of SITES) {
    if (!known.has(site)) await weir.client.createSite({ site_id: site });
    const { key } = await weir.client.createKey(site);
    await weir.client.keyKnown(key);
    const events = Array.from({ length: EVENTS }, (_, nth) => ({
      name: `event-${nth}`,
      visitor_id: `visitor-${Math.floor(random() * VISITORS)}`,
    }));
    const headers = { authorization: `Bearer ${key}` };
    expect((await weir.client.send({ path: '/api/v1/events/batch', headers, body: { events } })).status).toBe(200);
  }
  await weir.client.settled();
  await weir.stop();
}

const isDone = async (weir: WeirProcess, erasureId: string): Promise<boolean> => {
  const { phase, problem } = (await weir.client.must(200, 'GET', `/erasures/${erasureId}`)) as Record<string, string>;
  if (phase !== 'done') throw new Error(`${phase}: ${problem}`);
  return true;
};

/** Compares the rows of all parts with those of the tables, and counts the rows of the erased visitor in the parts. */
async function compareParts(): Promise<{ readonly same: boolean; readonly rows: number; readonly erased: number }> {
  const { clickhouse, analytics, close } = await openEmbeddedOn(dataDir);
  const database = 'weir';
  const columns = RECORDS_COLUMNS.map((name) => (name === 'properties' ? 'toString(properties) AS properties' : name));
  const digest = (from: string) =>
    analytics.select<{ rows: number; digest: string }>(
      `SELECT toUInt32(count()) AS rows, sum(cityHash64(formatRow('JSONEachRow', *))) AS digest FROM (SELECT ${columns.join(', ')} FROM ${from})`,
    );
  try {
    const structure = await analytics.select<{ name: string; type: string }>(
      "SELECT name, if(name = 'properties', 'String', type) AS type FROM system.columns WHERE database = {database:String} AND table = 'records' AND default_kind != 'EPHEMERAL' ORDER BY position",
      { database },
    );
    const types = structure.map(({ name, type }) => `${name} ${type.replaceAll("'", "\\'")}`).join(', ');
    const command = (query: string) => {
      const headers = { authorization: `Basic ${btoa(`${clickhouse.username}:${clickhouse.password}`)}` };
      return fetch(clickhouse.url, { method: 'POST', body: query, headers }).then(async (answer) => {
        if (!answer.ok) throw new Error(await answer.text());
      });
    };
    await command(`CREATE TABLE ${database}.read_back ENGINE = Memory AS SELECT * FROM ${database}.records WHERE 0`);
    const list = RECORDS_COLUMNS.join(', ');
    const glob = join(archiveDir, 'parquet/site=*/day=*/*.parquet');
    await command(
      `INSERT INTO ${database}.read_back (${list}) SELECT ${list} FROM file('${glob}', Parquet, '${types}')`,
    );
    const [parts, tables] = [await digest(`${database}.read_back`), await digest(`${database}.records`)];
    const [erased] = await analytics.select<{ n: number }>(
      `SELECT toUInt32(countIf(visitor_id = 'visitor-1' AND site_id = 'alpha')) AS n FROM ${database}.read_back`,
    );
    const same = JSON.stringify(parts) === JSON.stringify(tables);
    return { same, rows: Number(parts[0]?.rows), erased: Number(erased?.n) };
  } finally {
    await close();
  }
}

test('kill -9 while Parquet files are stored and erased: each row is in one file, and no erased row is in any', async () => {
  const seed = Number(process.env.WEIR_FAULT_SEED ?? Date.now() % 1_000_000);
  say(`kill-parquet: WEIR_FAULT_SEED=${seed}`);
  const random = seededRandom(seed);
  for (const day of DAYS) await fillDay(day, random);

  const weir = await start();
  running = weir;
  let kills = 0;
  for (let before = 0; before < SITES.length * DAYS.length; kills++) {
    const stored = await eventually(
      'further parts',
      async () => {
        const { length } = await namesOf('parquet/');
        return length > before && length;
      },
      WITHIN_MS,
    );
    await weir.kill9();
    before = stored;
    await weir.restart();
  }
  say(`kill-parquet: ${kills} kills while parts were stored`);
  const begun = (await weir.client.must(202, 'POST', '/sites/alpha/erasures', { visitors: ['visitor-1'] })) as {
    erasure_id: string;
  };
  for (let kill = 0; kill < 3; kill++) {
    const killAt = Date.now() + random() * 1_500; // the fault itself is a moment in time, so here a pause is the test
    await eventually('the moment of the kill', () => Date.now() >= killAt);
    await weir.kill9();
    await weir.restart();
  }
  await eventually('the erasure to be done', () => isDone(weir, begun.erasure_id), WITHIN_MS);
  await weir.stop();

  expect(await namesOf('parquet/')).toHaveLength(SITES.length * DAYS.length);
  expect(await compareParts()).toEqual({ same: true, rows: SITES.length * DAYS.length * EVENTS, erased: 0 });
}, 600_000);

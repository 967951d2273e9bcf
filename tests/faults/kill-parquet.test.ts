import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { openObjectStore } from '@weir/adapters/object-store/open-object-store';
import { RECORDS_COLUMNS } from '@weir/domain/records/records-columns';
import { TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import type { ObjectStore } from '@weir/ports/object-store';
import { eventually } from '@weir/testkit/eventually';
import { describeLive } from '@weir/testkit/live-ports';
import { startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import { openEmbeddedOn } from '../../packages/adapters/test/clickhouse/clickhouse-harness.ts';
import { archivedRecords } from '../../services/archiver/test/archived-records.ts';
import { FAULTS_ENV, faultRandom, say } from './exactly-once.ts';

const DAY_MS = 86_400_000;
const DAYS = [3, 2];
const SITES = ['alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta'];
const EVENTS = 400;
const VISITORS = 20;
/** The archiver stores at least this many Parquet files between two kills. */
const PARTS_PER_KILL = 2;
const WITHIN_MS = 300_000;
const CLOCK = pathToFileURL(join(__dirname, 'shift-clock.mjs')).href;

interface Place {
  readonly dataDir: string;
  /** The settings of Weir for the archive. */
  readonly env: Readonly<Record<string, string>>;
  readonly archive: ObjectStore;
}

const folders: string[] = [];
let running: WeirProcess | undefined;

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-kill-parquet-'));
  folders.push(folder);
  return folder;
}

afterEach(async () => {
  await running?.kill9();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function start({ dataDir, env }: Place, more: Readonly<Record<string, string>> = {}): Promise<WeirProcess> {
  running = await startWeir({ dataDir, env: { ...FAULTS_ENV, ARCHIVE_LINGER_SECONDS: '1', ...env, ...more } });
  return running;
}

async function namesOf({ archive }: Place, prefix: string): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name } of archive.list(prefix)) names.push(name);
  return names;
}

/** Starts Weir with a clock that is about `daysAgo` days behind, and stores events of each site. */
async function fillDay(place: Place, daysAgo: number, random: () => number): Promise<void> {
  // The clock begins at noon, so that it does not pass midnight while the events of one day are stored.
  const noon = (Math.floor(Date.now() / DAY_MS) - daysAgo + 0.5) * DAY_MS;
  const weir = await start(place, {
    NODE_OPTIONS: `--import ${CLOCK}`,
    CLOCK_SHIFT_MS: String(noon - Date.now()),
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
    await weir.client.sendBatch(key, events);
  }
  await weir.client.settled();
  await weir.stop();
}

const isDone = async (weir: WeirProcess, erasureId: string): Promise<boolean> => {
  const { phase, problem } = (await weir.client.must(200, 'GET', `/erasures/${erasureId}`)) as Record<string, string>;
  if (phase !== 'done') throw new Error(`${phase}: ${problem}`);
  return true;
};

/** Compares the rows of all Parquet files with the rows of the tables. `erased`: the number of rows of the erased visitor in the files. */
async function compareParts(
  place: Place,
): Promise<{ readonly same: boolean; readonly rows: number; readonly erased: number }> {
  const copies = makeFolder();
  for (const [nth, name] of (await namesOf(place, 'parquet/')).entries()) {
    writeFileSync(join(copies, `${nth}.parquet`), await buffer((await place.archive.get(name)) as Readable));
  }
  const { clickhouse, analytics, close } = await openEmbeddedOn(place.dataDir);
  const database = 'weir';
  const columns = RECORDS_COLUMNS.map((name) => (name === 'properties' ? 'toString(properties) AS properties' : name));
  const digest = (from: string) =>
    analytics.select<{ rows: number; digest: string }>(
      `SELECT toUInt32(count()) AS rows, sum(cityHash64(formatRow('JSONEachRow', *))) AS digest FROM (SELECT ${columns.join(', ')} FROM ${from})`,
    );
  try {
    const structure = await analytics.select<{ name: string; type: string }>(
      "SELECT name, if(name = 'properties', 'String', type) AS type FROM system.columns WHERE database = {database:String} AND table = 'records' AND default_kind = '' ORDER BY position",
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
    await command(
      `INSERT INTO ${database}.read_back (${list}) SELECT ${list} FROM file('${join(copies, '*.parquet')}', Parquet, '${types}')`,
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

/** Counts the archived records of the site alpha that contain this visitor ID. */
async function recordsOf(place: Place, visitor: string): Promise<number> {
  let found = 0;
  for (const topic of [TOPIC_RAW, TOPIC_ENRICHED]) {
    for (const { value } of await archivedRecords(place.archive, topic)) {
      const line = Buffer.from(value).toString();
      if (line.includes('"alpha"') && line.includes(`"${visitor}"`)) found++;
    }
  }
  return found;
}

async function surviveKills(place: Place): Promise<void> {
  const random = faultRandom('kill-parquet');
  for (const day of DAYS) await fillDay(place, day, random);

  const weir = await start(place);
  const parts = SITES.length * DAYS.length;
  let kills = 0;
  for (let before = 0; before < parts; kills++) {
    const stored = await eventually(
      'further parts',
      async () => {
        const { length } = await namesOf(place, 'parquet/');
        return length >= Math.min(before + PARTS_PER_KILL, parts) && length;
      },
      WITHIN_MS,
    );
    await weir.kill9();
    before = stored;
    await weir.restart();
  }
  say(`kill-parquet: ${kills} kills while parts were stored`);
  await eventually('the records to be archived', async () => (await recordsOf(place, 'visitor-1')) > 0, WITHIN_MS);
  const begun = (await weir.client.must(202, 'POST', '/sites/alpha/erasures', { visitors: ['visitor-1'] })) as {
    erasure_id: string;
  };
  for (let kill = 0; kill < 3; kill++) {
    const killAt = Date.now() + random() * 1_500; // the kill must happen at a random moment, so this wait is part of the test
    await eventually('the moment of the kill', () => Date.now() >= killAt);
    await weir.kill9();
    await weir.restart();
  }
  await eventually('the erasure to be done', () => isDone(weir, begun.erasure_id), WITHIN_MS);
  await weir.stop();
  running = undefined;

  expect(await recordsOf(place, 'visitor-1')).toBe(0);
  expect(await recordsOf(place, 'visitor-2')).toBeGreaterThan(0);
  expect(await namesOf(place, 'parquet/')).toHaveLength(parts);
  expect(await compareParts(place)).toEqual({ same: true, rows: parts * EVENTS, erased: 0 });
}

const KILLED =
  'kill -9 while Parquet files are stored and the archive is erased: each row is in one file, and no erased record remains';

test(`${KILLED}: in a folder`, async () => {
  const url = pathToFileURL(join(makeFolder(), 'archive')).href;
  const archive = await openObjectStore({ url, s3: { endpoint: undefined, region: 'us-east-1', pathStyle: true } });
  await surviveKills({ dataDir: makeFolder(), env: { ARCHIVE_URL: url }, archive });
}, 1_200_000);

describeLive('s3', (endpoint) => {
  test(`${KILLED}: in a bucket`, async () => {
    const credentials = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
    Object.assign(process.env, credentials);
    const bucket = `weir-${randomUUID()}`;
    expect((await fetch(`${endpoint()}/${bucket}`, { method: 'PUT' })).ok).toBe(true);
    const url = `s3://${bucket}/archive`;
    const s3 = { endpoint: endpoint(), region: 'us-east-1', pathStyle: true };
    const env = { ...credentials, ARCHIVE_URL: url, S3_ENDPOINT: endpoint(), S3_PATH_STYLE: 'true' };
    await surviveKills({ dataDir: makeFolder(), env, archive: await openObjectStore({ url, s3 }) });
  }, 1_200_000);
});

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { openFileObjectStore } from '@weir/adapters/object-store/file-object-store';
import { eventually } from '@weir/testkit/eventually';
import type { WeirClient } from '@weir/testkit/weir-client';
import { mustRunWeir, startWeir } from '@weir/testkit/weir-process';
import { archivedRecords } from '../../services/archiver/test/archived-records.ts';
import { FAULTS_ENV, say } from './exactly-once.ts';

/** The number of persons who are erased in one call. A call accepts at most 10,000 persons. */
const GONE = Number(process.env.WEIR_FORGET_PERSONS ?? 2_000);
const KEPT = 200;
const BATCH = 500;
const AT_ONCE = 32;
const WITHIN_MS = 600_000;
/** Each name of an erased person contains this text, and no other text does. */
const MARK = 'gone-';

const run = promisify(execFile);
const home = mkdtempSync(join(tmpdir(), 'weir-forget-many-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** A name with 22 random characters of base 64, so that no file contains it by chance. */
const newName = (mark: string): string => `${mark}${randomBytes(16).toString('base64url')}`;

/** Every second person is a user with a profile, the others are visitors without a user. */
const isUser = (nth: number): boolean => nth % 2 === 0;

async function put(client: WeirClient, key: string, names: readonly string[]): Promise<void> {
  const events = names.flatMap((name, nth) => [
    {
      ...{ name: 'seen', visitor_id: name, session_id: `session-${name}`, idempotency_key: `key-${name}` },
      properties: { own: name },
    },
    {
      ...{ name: 'payment', value: '5', properties: { currency: 'EUR', own: name } },
      ...(isUser(nth) ? { user_id: `user-${name}` } : { visitor_id: name }),
    },
  ]);
  for (let at = 0; at < events.length; at += BATCH) await client.sendBatch(key, events.slice(at, at + BATCH));
  const users = names.filter((_, nth) => isUser(nth));
  const identify = async (): Promise<void> => {
    for (let name = users.pop(); name !== undefined; name = users.pop()) {
      const identity = { visitor_id: name, user_id: `user-${name}`, email: `${name}@example.com`, plan: name };
      expect((await client.identify(key, { ...identity, payment_customer_id: `cus-${name}` })).status).toBeLessThan(
        300,
      );
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, identify));
  await client.settled(WITHIN_MS);
}

/** Conditions on `system.tables`. VIEWS: the views to compare, and the table `records`. STORED: the tables that store rows. */
const VIEWS = "engine = 'View' AND name NOT IN ('links_with_time', 'users_with_time') OR name = 'records'";
const STORED = "engine LIKE '%MergeTree'";

async function namesOf(client: WeirClient, database: string, kind: string): Promise<readonly string[]> {
  const query = `SELECT name FROM system.tables WHERE database = '${database}' AND (${kind}) ORDER BY name`;
  return (await client.sql(query)).map(({ name }) => String(name));
}

/** Returns the number of rows and a checksum for each view. Rows with the outcome `erased` are ignored. */
async function checksums(client: WeirClient, database: string): Promise<Readonly<Record<string, string>>> {
  const found: Record<string, string> = {};
  for (const view of await namesOf(client, database, VIEWS)) {
    const columns = (
      await client.sql(`SELECT name FROM system.columns WHERE database = '${database}' AND table = '${view}'`)
    ).map(({ name }) => String(name));
    const where = columns.includes('outcome') ? "WHERE outcome != 'erased'" : '';
    const nonzero = view === 'books' ? ' AND records != 0' : '';
    // This column comes from a dictionary that the embedded engine reloads only every 30 s.
    const without = columns.filter((column) => view === 'events' && column === 'profile_id');
    const chosen = without.length === 0 ? '*' : `* EXCEPT (${without.join(', ')})`;
    const [row] = await client.sql(
      `SELECT count() AS n, toString(sum(cityHash64(formatRow('JSONEachRow', *)))) AS checksum
       FROM (SELECT ${chosen} FROM ${database}.${view} ${where}${nonzero})`,
    );
    found[view] = `${row?.n} ${row?.checksum}`;
  }
  return found;
}

/** Returns the stored tables that contain a name of an erased person, with the number of their rows. */
async function traces(client: WeirClient, database: string): Promise<Readonly<Record<string, number>>> {
  const found: Record<string, number> = {};
  for (const table of await namesOf(client, database, STORED)) {
    const rows = await client.number(
      `SELECT count() FROM ${database}.${table} WHERE position(formatRow('JSONEachRow', *), '${MARK}') > 0`,
    );
    if (rows > 0) found[table] = rows;
  }
  return found;
}

/** Returns the files of a folder that contain one of the names, with the number of different names in each file. */
async function filesWith(folder: string, names: readonly string[]): Promise<Readonly<Record<string, number>>> {
  const patterns = join(home, 'patterns');
  writeFileSync(patterns, `${names.join('\n')}\n`);
  const { stdout } = await run(
    'sh',
    ['-c', 'LC_ALL=C grep -raoF -f "$1" "$2" | sort -u | cut -d: -f1 | uniq -c || true', 'sh', patterns, folder],
    { maxBuffer: 64 * 1024 * 1024 },
  );
  return Object.fromEntries(
    [...stdout.matchAll(/^ *(\d+) (.+)$/gm)].map(([, count, file]) => [
      String(file).slice(folder.length + 1),
      Number(count),
    ]),
  );
}

test(`${GONE} persons are erased in one call, and nothing brings them back`, async () => {
  const archive = join(home, 'archive');
  mkdirSync(archive);
  const env = { ...FAULTS_ENV, ARCHIVE_URL: pathToFileURL(archive).href, ARCHIVE_LINGER_SECONDS: '1' };
  const weir = await startWeir({ env });
  const { client } = weir;
  try {
    const { site, key } = await client.createSiteWithKey();
    await client.keyKnown(key);
    await put(
      client,
      key,
      Array.from({ length: KEPT }, () => newName('kept-')),
    );
    const before = await checksums(client, 'weir');
    const gone = Array.from({ length: GONE }, () => newName(MARK));
    await put(client, key, gone);
    const stored = await traces(client, 'weir');
    expect(stored.records).toBe(GONE * 2.5);
    await mustRunWeir(client, 'backup', 'create', join(home, 'backup'));
    const onDisk = await filesWith(weir.dataDir, gone);
    say(`forget-many: files with names before the erasure: ${JSON.stringify(onDisk)}`);
    const namesIn = (folder: string): number =>
      Object.entries(onDisk).reduce((sum, [file, names]) => (file.startsWith(`${folder}/`) ? sum + names : sum), 0);
    expect(namesIn('state')).toBeGreaterThan(GONE / 2);
    // The log and the tables are compressed. A search in their files therefore finds only some of the names.
    expect(namesIn('log')).toBeGreaterThan(0);
    expect(namesIn('clickhouse')).toBeGreaterThan(0);

    const { erasure_id: id } = (await client.must(202, 'POST', `/sites/${site}/erasures`, {
      users: gone.filter((_, nth) => isUser(nth)).map((name) => `user-${name}`),
      visitors: gone.filter((_, nth) => !isUser(nth)),
    })) as { readonly erasure_id: string };
    const startedAt = performance.now();
    const receipt = await eventually(
      'the erasure to be done',
      async () => {
        const view = (await client.must(200, 'GET', `/erasures/${id}`)) as Readonly<Record<string, unknown>>;
        if (view.phase !== 'done') throw new Error(JSON.stringify(view));
        return view;
      },
      WITHIN_MS,
    );
    say(`forget-many: ${GONE} persons in ${Math.round(performance.now() - startedAt)} ms: ${JSON.stringify(receipt)}`);
    expect(receipt).toMatchObject({
      users: GONE / 2,
      visitors: GONE / 2,
      problem: null,
      removed: { records: GONE * 2.5 },
    });
    expect(await traces(client, 'weir')).toEqual({});
    expect(await checksums(client, 'weir')).toEqual(before);
    await client.balanced();
    for (const topic of ['events.raw', 'events.enriched']) {
      const records = await archivedRecords(openFileObjectStore(archive), topic);
      expect(records.filter(({ value }) => Buffer.from(value).includes(MARK))).toEqual([]);
      expect(records.length).toBeGreaterThan(GONE * 2.5);
    }

    for (const from of ['enriched', 'raw', 'archive']) {
      await mustRunWeir(client, 'replay', 'start', '--from', from);
      expect([from, await traces(client, 'weir_shadow')]).toEqual([from, {}]);
      expect([from, await checksums(client, 'weir_shadow')]).toEqual([from, before]);
      await mustRunWeir(client, 'replay', 'swap');
      expect([from, await traces(client, 'weir'), await checksums(client, 'weir')]).toEqual([from, {}, before]);
      await mustRunWeir(client, 'replay', 'drop');
    }
    await client.balanced();

    const list = join(home, 'erased.json');
    writeFileSync(list, await mustRunWeir(client, 'forget', '--list', '--json'));
    const folder = join(home, 'restored');
    await mustRunWeir(client, 'backup', 'restore', join(home, 'backup'), folder, '--erased', list);
    const restored = await startWeir({ dataDir: folder, env: FAULTS_ENV });
    try {
      expect(await traces(restored.client, 'weir')).toEqual({});
      expect(await checksums(restored.client, 'weir')).toEqual(before);
      await restored.client.balanced();
    } finally {
      await restored.stop();
    }

    // ClickHouse removes the parts that the erasure has replaced some time after this start. Only the parts that SQL reads remain. Their files are
    // compressed, so a search in the files cannot find all names. Therefore `traces` searches with SQL too.
    expect(await weir.terminate()).toBe(0);
    await weir.restart();
    const replaced = "SELECT count() FROM system.parts WHERE database LIKE 'weir%' AND NOT active";
    await eventually('the replaced parts to be gone', async () => (await client.number(replaced)) === 0, WITHIN_MS);
    // ClickHouse is removing the folders of old parts now. If a folder disappears while `find` runs, `find` fails and is run again.
    const hasDetached = async (): Promise<boolean> =>
      (await run('find', [join(weir.dataDir, 'clickhouse'), '-path', '*/detached/*'])).stdout !== '';
    const isGone = async (): Promise<boolean> => !(await hasDetached().catch(() => true));
    await eventually('the detached parts to be gone', isGone, WITHIN_MS);
    expect(await traces(client, 'weir')).toEqual({});
    const files = Object.keys(await filesWith(weir.dataDir, gone));
    expect(files.filter((file) => file !== 'log/data.mdb')).toEqual([]);
    const logged = (await readFile(join(weir.dataDir, 'clickhouse.stderr'), 'utf8')) + weir.output();
    expect(logged.includes(MARK)).toBe(false);
  } finally {
    await weir.stop();
  }
}, 3_600_000);

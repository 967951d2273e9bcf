import { join } from 'node:path';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { RecordsBatch } from '@weir/ports/analytics';
import { eventually } from '@weir/testkit/eventually';
import { type ClickhouseAnalytics, openClickhouseAnalytics } from '../../src/clickhouse/clickhouse-analytics.ts';
import { type Exchange, exchangeGenerations, type Statements } from '../../src/clickhouse/exchange-generations.ts';
import { readStoredTables } from '../../src/clickhouse/stored-tables.ts';
import { batch, everyKind, identify, openEmbeddedUnderTest, tableCounts } from './clickhouse-harness.ts';

const FOLDER = join(__dirname, '../../../../schemas/clickhouse');
const SHADOW = 'weir_shadow';

type Counts = Readonly<Record<string, unknown>>;

let opened: Awaited<ReturnType<typeof openEmbeddedUnderTest>>;
let live: ClickhouseAnalytics;
let shadow: ClickhouseAnalytics;
let server: ClickHouseClient;
/**
 * The expected content of `live` (`here`) and of `shadow` (`there`): the counts of the rows of the tables, and the profile that the
 * dictionaries contain for the visitor and the user in DICTIONARY.
 */
let here: { readonly counts: Counts; readonly profile: string };
let there: typeof here;
let nextOffset = 0;

const DICTIONARY =
  "SELECT dictGet('weir.links_dictionary', 'profile_id', ('site-1', 'v-dictionary')) AS profile, " +
  "dictGet('weir.users_dictionary', 'profile_id', ('site-1', 'u-dictionary')) AS of_user";

const linked = (profile: string): RecordsBatch =>
  next((from) =>
    batch(from, [identify({ profile_id: profile, user_id: 'u-dictionary' }, { visitor_id: 'v-dictionary' })]),
  );

/** Makes a batch with raw offsets (docs/glossary.md) that no other batch has. */
function next(make: (from: number) => RecordsBatch): RecordsBatch {
  const made = make(nextOffset);
  nextOffset += made.lines.length;
  return made;
}

/** Counts the rows of each table. The counts do not depend on merges. */
async function storedCounts(analytics: ClickhouseAnalytics): Promise<Counts> {
  const counts: Record<string, unknown> = { ...(await tableCounts(analytics)) };
  for (const table of [
    'links_latest',
    'payment_links',
    'profiles_latest',
    'profile_values',
    'people_seen',
    'moved_hours',
  ]) {
    const [row] = await analytics.select<{ n: unknown }>(`SELECT toUInt32(count()) AS n FROM ${table} FINAL`);
    counts[table] = row?.n;
  }
  return counts;
}

beforeAll(async () => {
  opened = await openEmbeddedUnderTest();
  const { url, username, password } = opened.clickhouse;
  live = opened.analytics;
  shadow = openClickhouseAnalytics({ url, username, password, migrationsDir: FOLDER, database: SHADOW });
  server = createClient({ url, username, password, database: 'weir', log: { level: ClickHouseLogLevel.OFF } });
  await Promise.all([live.migrate(), shadow.migrate()]);
  await live.insertRecords(linked('p-first'));
  await live.insertRecords(next(everyKind));
  await shadow.insertRecords(linked('p-second'));
  for (let i = 0; i < 3; i++) await shadow.insertRecords(next(everyKind));
  here = { counts: await storedCounts(live), profile: 'p-first' };
  there = { counts: await storedCounts(shadow), profile: 'p-second' };
}, 120_000);
afterAll(async () => {
  await Promise.all([server.close(), shadow.close()]);
  await opened.close();
});

function statements(around: (statement: string, run: () => Promise<void>) => Promise<void>): Statements {
  return {
    run: (query) => around(query, async () => void (await server.command({ query }))),
    select: (query, params) => live.select(query, params),
  };
}

async function exchange(
  generation: number,
  around = (_: string, run: () => Promise<void>) => run(),
  limits: Pick<Exchange, 'insertsEndWithinMs'> = {},
): Promise<void> {
  const stored = await readStoredTables(FOLDER);
  const databases = { live: 'weir', shadow: SHADOW, cluster: undefined };
  await exchangeGenerations(statements(around), { ...databases, generation, ...limits, ...stored });
}

/** Asserts that the tables, dictionaries and generations (docs/glossary.md) of `live` and `shadow` were exchanged. */
async function expectExchanged(generation: number): Promise<void> {
  [here, there] = [there, here];
  expect(await storedCounts(live)).toEqual(here.counts);
  expect(await storedCounts(shadow)).toEqual(there.counts);
  expect(await live.select<Counts>(DICTIONARY)).toEqual([{ profile: here.profile, of_user: here.profile }]);
  expect(await live.generation()).toBe(generation);
  expect(await shadow.generation()).toBe(generation - 1);
}

test('all tables and dictionaries change places, and the views then store each batch once in the live tables', async () => {
  const old = await live.generation();
  await live.exchangeWith(SHADOW, old + 1);
  await expectExchanged(old + 1);
  await live.exchangeWith(SHADOW, old + 1);
  expect(await storedCounts(live)).toEqual(here.counts);

  const planned = next(everyKind);
  await expect(live.insertRecords({ ...planned, generation: old })).rejects.toMatchObject({
    code: 'generation_changed',
  });
  for (let i = 0; i < 2; i++) await live.insertRecords({ ...planned, generation: old + 1 });
  expect(await storedCounts(shadow)).toEqual(there.counts);
  const counts = await storedCounts(live);
  const whole = here.counts;
  expect(counts).toMatchObject({
    records: Number(whole.records) + 5,
    books_sums: Number(whole.books_sums) + 5,
    links_log: Number(whole.links_log) + 1,
    payments_log: Number(whole.payments_log) + 1,
  });
  here = { ...here, counts };
});

test('an exchange to another generation than the next one is refused and changes nothing', async () => {
  const old = await live.generation();
  await expect(live.exchangeWith(SHADOW, old + 2)).rejects.toMatchObject({ code: 'analytics_refused' });
  await expect(live.exchangeWith(SHADOW, old - 1)).rejects.toMatchObject({ code: 'analytics_refused' });
  expect(await live.generation()).toBe(old);
  expect(await storedCounts(live)).toEqual(here.counts);
});

test('an exchange changes the fence column without a mutation, so no part is rewritten', async () => {
  // The query leaves out the mutation with which migration 021 builds an index.
  const query =
    "SELECT toUInt32(count()) AS n FROM system.mutations WHERE table = 'records' AND NOT startsWith(command, '(MATERIALIZE INDEX')";
  expect(await live.select(query)).toEqual([{ n: 0 }]);
});

test('on a cluster, each statement runs on all replicas, and ClickHouse can parse it', async () => {
  const cluster = 'weir_main';
  // The engine of this test has no cluster, so the test runs the statements without ON CLUSTER.
  const alone = (sql: string): string =>
    sql
      .replace(` ON CLUSTER '${cluster}'`, '')
      .replace(`clusterAllReplicas('${cluster}', system.processes)`, 'system.processes');
  const sent: string[] = [];
  const generation = (await live.generation()) + 1;
  const stored = await readStoredTables(FOLDER);
  await exchangeGenerations(
    {
      async run(sql) {
        sent.push(sql);
        await server.command({ query: alone(sql) });
      },
      select: (query, params) => live.select(alone(query), params),
    },
    { live: 'weir', shadow: SHADOW, generation, cluster, ...stored },
  );
  await expectExchanged(generation);
  expect(sent.length).toBeGreaterThan(15);
  for (const sql of sent) {
    const [row] = await live.select<{ text: string }>('SELECT formatQuerySingleLine({sql:String}) AS text', { sql });
    expect(row?.text).toContain(` ON CLUSTER ${cluster}`);
  }
});

describe('the next call completes an exchange that was interrupted', () => {
  async function statementCount(): Promise<number> {
    const generation = (await live.generation()) + 1;
    let count = 0;
    await exchange(generation, (_, run) => {
      count++;
      return run();
    });
    await expectExchanged(generation);
    return count;
  }

  test('when the caller is killed after any of the statements', async () => {
    const count = await statementCount();
    expect(count).toBeGreaterThan(15);
    for (let at = 0; at < count; at++) {
      const generation = (await live.generation()) + 1;
      let index = 0;
      const killed = exchange(generation, async (_, run) => {
        await run();
        if (index++ === at) throw new Error('killed');
      });
      await expect(killed).rejects.toThrow('killed');
      await exchange(generation);
      await expectExchanged(generation);
    }
  }, 300_000);

  test('when ClickHouse is killed during any of the statements', async () => {
    const count = await statementCount();
    for (let at = 0; at < count; at++) {
      const generation = (await live.generation()) + 1;
      let index = 0;
      const killed = exchange(generation, async (_, run) => {
        if (index++ !== at) return run();
        const running = run();
        process.kill(opened.clickhouse.pid() as number, 'SIGKILL');
        await running;
        // The statement can have ended before the kill. This error then prevents that the rest of the exchange runs.
        throw new Error('killed');
      });
      await expect(killed).rejects.toThrow();
      await eventually('completed', () => exchange(generation).then(() => true));
      await expectExchanged(generation);
    }
  }, 1_200_000);
});

test('while tables are being exchanged, every insert and every read of the generation is refused', async () => {
  const old = await live.generation();
  const refused: unknown[] = [];
  await exchange(old + 1, async (statement, run) => {
    await run();
    if (!/^(EXCHANGE|SYSTEM)/.test(statement)) return;
    for (const attempt of [
      live.generation(),
      live.insertRecords({ ...everyKind(1_000_000), generation: old }),
      live.insertRecords({ ...everyKind(1_000_000), generation: old + 1 }),
    ]) {
      refused.push(await attempt.catch(({ code }: { readonly code?: unknown }) => code));
    }
  });
  expect(refused.length).toBeGreaterThanOrEqual(9);
  expect(new Set(refused)).toEqual(new Set(['generation_changed']));
  await expectExchanged(old + 1);
});

test('an insert during an exchange is stored completely in the tables of its generation, or not at all', async () => {
  const old = await live.generation();
  let stop = false;
  let taken = 0;
  const insertAll = async (): Promise<void> => {
    while (!stop) {
      try {
        await live.insertRecords({ ...next(everyKind), generation: old });
        taken++;
      } catch (error) {
        expect(error).toMatchObject({ code: 'generation_changed' });
        return;
      }
    }
  };
  const before = here.counts;
  const inserting = Promise.all([insertAll(), insertAll(), insertAll()]);
  await eventually('some are stored', () => taken > 3);
  await exchange(old + 1);
  stop = true;
  await inserting;
  const former = await storedCounts(shadow);
  expect(former).toMatchObject({
    records: Number(before.records) + 5 * taken,
    books_sums: Number(before.books_sums) + 5 * taken,
    links_log: Number(before.links_log) + taken,
    payments_log: Number(before.payments_log) + taken,
  });
  here = { ...here, counts: former };
  await expectExchanged(old + 1);
}, 60_000);

test('if an insert does not end in time, nothing is exchanged and the tables are opened again', async () => {
  const generation = await live.generation();
  // The insert takes 15 seconds, so that also on a busy machine, the exchange gives up long before the insert ends.
  const slow = server.command({
    query: "INSERT INTO records (site_id, log_id) SELECT 'slow', toString(sleepEachRow(1)) FROM numbers(15)",
    clickhouse_settings: { max_block_size: '1' },
  });
  await eventually('the insert runs', async () => {
    const [row] = await live.select<{ n: number }>(
      "SELECT count() AS n FROM system.processes WHERE query_kind = 'Insert'",
    );
    return Number(row?.n) > 0;
  });
  const impatient = exchange(generation + 1, undefined, { insertsEndWithinMs: 500 });
  await expect(impatient).rejects.toMatchObject({ code: 'analytics_unavailable' });
  expect(await live.generation()).toBe(generation);
  await slow;
  here = { ...here, counts: await storedCounts(live) };
  await exchange(generation + 1);
  await expectExchanged(generation + 1);
}, 60_000);

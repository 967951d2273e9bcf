import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sqlStatements } from '@weir/embedded-clickhouse/sql-tokens';
import { clickhouseDrift } from '../../src/clickhouse/clickhouse-drift.ts';
import { migrateClickhouse } from '../../src/clickhouse/clickhouse-migrate.ts';
import { onCluster } from '../../src/clickhouse/clickhouse-on-cluster.ts';
import { useClickhouse } from './clickhouse-harness.ts';

const FOLDER = join(__dirname, '../../../../schemas/clickhouse');
const STATEMENTS = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.sql'))
  .sort()
  .flatMap((name) => sqlStatements(readFileSync(join(FOLDER, name), 'utf8')).map((sql) => [name, sql] as const));

describe('CLICKHOUSE_CLUSTER: the migrations create replicated tables', () => {
  const opened = useClickhouse({ openMs: 60_000 });

  /** Formats a statement with the engine. Rejects if the engine cannot parse it. Does not execute it, because the engine has no Keeper. */
  async function parsed(sql: string): Promise<string> {
    const [row] = await opened.analytics.select<{ text: string }>(
      'SELECT formatQuerySingleLine({sql:String}) AS text',
      {
        sql,
      },
    );
    return row?.text ?? '';
  }

  test.each(STATEMENTS)('%s: statement %# parses, and only its cluster, engine and window differ', async (_, sql) => {
    const one = await parsed(sql);
    const many = await parsed(onCluster(sql, 'weir_main'));
    // An INSERT does not change: it runs on one replica, and ClickHouse replicates its rows.
    if (one.startsWith('INSERT')) expect(many).toBe(one);
    else expect(many).toContain(' ON CLUSTER weir_main');
    expect(many).not.toMatch(/ENGINE = (?!Replicated)\w*MergeTree/);
    expect(many).not.toContain('non_replicated_deduplication_window');
    const back = many
      .replace(' ON CLUSTER weir_main', '')
      .replace(/ENGINE = Replicated/, 'ENGINE = ')
      .replace(/, replicated_deduplication_window_seconds = 604800/, '')
      .replace(' replicated_deduplication_window', ' non_replicated_deduplication_window');
    expect(back).toBe(one);
  });

  test('a start without missing migrations runs no statement on the cluster: it would wait for an unavailable replica', async () => {
    const { url, username, password } = opened.clickhouse;
    const deployed = { url, username, password, cluster: 'of_which_none_answers' };
    await migrateClickhouse({ ...deployed, migrationsDir: FOLDER }, 'weir');
    // A new database needs statements ON CLUSTER. They fail, because the cluster does not exist.
    await expect(migrateClickhouse({ ...deployed, migrationsDir: FOLDER }, 'another')).rejects.toThrow();
  });

  test('the migrated tables of this server have no drift', async () => {
    expect(await opened.analytics.drift()).toEqual([]);
  });
});

test('arguments of an engine are kept, and a database is created on the cluster too', () => {
  expect(onCluster('CREATE DATABASE IF NOT EXISTS weir', 'c')).toBe(
    "CREATE DATABASE IF NOT EXISTS weir ON CLUSTER 'c'",
  );
  expect(onCluster('CREATE TABLE IF NOT EXISTS t (n UInt8) ENGINE = SummingMergeTree(n) ORDER BY n', 'c')).toBe(
    "CREATE TABLE IF NOT EXISTS t ON CLUSTER 'c' (n UInt8) ENGINE = ReplicatedSummingMergeTree(n) ORDER BY n",
  );
});

describe('drift of ClickHouse', () => {
  const good = {
    name: 'records',
    engine: 'MergeTree',
    engine_full: 'MergeTree ORDER BY x SETTINGS non_replicated_deduplication_window = 10000, index_granularity = 8192',
  };
  const server = { version: '25.8.1.1', tables: [good], shards: undefined, latestBlock: 7 };

  test('reports nothing for a correct server, single or replicated', () => {
    expect(clickhouseDrift(server)).toEqual([]);
    const copied = {
      name: 'records',
      engine: 'ReplicatedMergeTree',
      engine_full: 'ReplicatedMergeTree() ORDER BY x SETTINGS replicated_deduplication_window = 10000',
    };
    expect(clickhouseDrift({ ...server, tables: [copied], shards: 1 })).toEqual([]);
  });

  test.each([
    ['an old server', { ...server, version: '25.3.9.1' }, 'version is 25.3.9.1, not 25.8 or later'],
    [
      'a short window',
      { ...server, tables: [{ ...good, engine_full: 'MergeTree SETTINGS non_replicated_deduplication_window = 100' }] },
      'records: non_replicated_deduplication_window is 100, not 10000 or more',
    ],
    [
      'no window',
      { ...server, tables: [{ ...good, engine_full: 'MergeTree ORDER BY x' }] },
      'records: non_replicated_deduplication_window is 0, not 10000 or more',
    ],
    [
      'a table without replicas',
      { ...server, shards: 1 },
      'records: MergeTree is not replicated, although a cluster is configured',
    ],
    [
      'a missing permission',
      { ...server, latestBlock: undefined },
      "Weir's user may not read system.parts: GRANT SELECT ON system.parts is missing",
    ],
    ['several shards', { ...server, tables: [], shards: 2 }, 'the cluster has 2 shards, not 1'],
    ['a cluster that does not exist', { ...server, tables: [], shards: 0 }, 'the cluster has 0 shards, not 1'],
  ])('reports %s', (_, found, line) => {
    expect(clickhouseDrift(found)).toEqual([line]);
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import {
  USER_QUERY_MEMORY_BYTES_MAX,
  USER_QUERY_RESULT_BYTES_MAX,
  USER_QUERY_ROWS_MAX,
  USER_QUERY_SECONDS_MAX,
} from '@weir/adapters/clickhouse/check-user-query';
import { DYNAMIC_KEYS } from '@weir/adapters/clickhouse/run-user-query';
import { readStoredTables } from '@weir/adapters/clickhouse/stored-tables';
import { RUNNING_MAX } from '@weir/control/reports/report-queue';
import {
  type ClickhouseUnderTest,
  openClickhouseUnderTest,
} from '../../packages/adapters/test/clickhouse/clickhouse-harness.ts';
import { readSources, readYaml } from './read-files.ts';

/** A report with bots and a comparison runs up to ten statements at the same time (`RUNNING_MAX`). */
const STATEMENTS_OF_A_REPORT_MAX = 10;

type Settings = Record<string, unknown>;
interface User {
  readonly password: Record<string, string>;
  readonly profile: string;
  readonly quota: string;
  readonly grants: { readonly query: readonly string[] };
}

const config = readYaml<Record<string, Settings>>('infra/clickhouse/config.yaml');
const { profiles, users } = readYaml<{ profiles: Record<string, Settings>; users: Record<string, User> }>(
  'infra/clickhouse/users.yaml',
);
const { constraints, ...reader } = profiles.weir_reader ?? {};

describe('infra/clickhouse', () => {
  test('all passwords come from environment variables', () => {
    for (const { password } of Object.values(users)) expect(Object.keys(password)).toEqual(['@from_env']);
  });

  test('each system log is off or has a time limit', () => {
    const logs = Object.entries(config).filter(([name]) => name.endsWith('_log'));
    expect(logs.length).toBeGreaterThan(15);
    for (const [, log] of logs) {
      if (log['@remove'] === undefined) expect(log.ttl).toMatch(/^event_date \+ INTERVAL \d+ DAY DELETE$/);
      else expect(log).toEqual({ '@remove': '1' });
    }
  });

  test('the limits of the reader equal the limits that Weir sends', () => {
    expect(reader).toMatchObject({
      readonly: 1,
      max_execution_time: USER_QUERY_SECONDS_MAX,
      max_memory_usage: USER_QUERY_MEMORY_BYTES_MAX,
      max_result_rows: USER_QUERY_ROWS_MAX,
      max_result_bytes: USER_QUERY_RESULT_BYTES_MAX,
    });
    const sent = readSources('packages/adapters/src').match(/USER_QUERY_SETTINGS = \{([^}]*)\}/)?.[1] ?? '';
    const names = [...sent.matchAll(/^ +(\w+):/gm)].map(([, name = '']) => name);
    expect(names.length).toBeGreaterThan(5);
    expect(names.filter((name) => !(name in reader))).toEqual([]);
  });

  test('the reader can group and sort by properties, and run a query without PREWHERE', () => {
    expect(reader).toMatchObject(DYNAMIC_KEYS);
    expect(constraints).toHaveProperty('optimize_move_to_prewhere');
  });

  test('the reader has the settings that views have', () => {
    const sql = readSources('schemas/clickhouse', '.sql');
    const ofViews = [...sql.matchAll(/^SETTINGS (input_format.*);$/gm)].flatMap(([, list = '']) => list.split(', '));
    expect(ofViews.length).toBeGreaterThan(1);
    for (const setting of ofViews) {
      const [name = '', value] = setting.split(' = ');
      expect([name, reader[name]]).toEqual([name, Number(value)]);
    }
  });

  test('the limits of the reader leave room for reports, which it reads too', () => {
    const statements = RUNNING_MAX * STATEMENTS_OF_A_REPORT_MAX;
    expect(Number(reader.max_concurrent_queries_for_user)).toBeGreaterThan(4 * statements);
    expect(users.weir_reader?.quota).toBe('default');
  });

  test('the reader has no grant that allows writes', () => {
    const granted = (users.weir_reader?.grants.query ?? []).map((grant) => /^GRANT (.*) ON /.exec(grant)?.[1]);
    for (const rights of granted) expect(rights).toMatch(/^(SHOW|SELECT|dictGet)(, (SHOW|SELECT|dictGet))*$/);
  });
});

describe('checked with the ClickHouse of the tests', () => {
  let live: ClickhouseUnderTest;
  let client: ClickHouseClient;
  beforeAll(async () => {
    live = await openClickhouseUnderTest();
    const { url, username, password } = live.clickhouse;
    client = createClient({ url, username, password, log: { level: ClickHouseLogLevel.OFF } });
  });
  afterAll(async () => {
    await client.close();
    await live.close();
  });

  const rows = async <T>(query: string, query_params: Settings = {}): Promise<T[]> =>
    (await client.query({ query, query_params, format: 'JSONEachRow' })).json<T>();

  test('every setting of the profiles exists', async () => {
    const known = new Set((await rows<{ name: string }>('SELECT name FROM system.settings')).map(({ name }) => name));
    const used = [profiles.weir_writer ?? {}, reader, (constraints ?? {}) as Settings].flatMap(Object.keys);
    expect(used.filter((name) => !known.has(name))).toEqual([]);
  });

  test('every grant is valid', async () => {
    const grants = Object.entries(users).flatMap(([name, user]) =>
      user.grants.query.map((grant) => `${grant} TO ${name}`),
    );
    for (const grant of grants) {
      expect(await rows('SELECT formatQuery({grant:String}) AS text', { grant })).toEqual([{ text: grant }]);
    }
    await expect(rows("SELECT formatQuery('GRANT SELEKT ON weir.* TO weir')")).rejects.toThrow();
  });

  test('the writer may create every kind of object that the migrations create', () => {
    const granted = (users.weir?.grants.query ?? []).join('\n');
    for (const kind of ['DATABASE', 'TABLE', 'VIEW', 'DICTIONARY']) expect(granted).toContain(`CREATE ${kind}`);
  });

  test('the writer may exchange each table that a swap exchanges', async () => {
    const granted = users.weir?.grants.query ?? [];
    const { tables } = await readStoredTables('schemas/clickhouse');
    for (const name of tables) expect(granted).toContain(`GRANT DROP TABLE ON weir.${name}`);
  });

  test('the writer may replace, drop and alter the objects that the migrations change', () => {
    const granted = (users.weir?.grants.query ?? []).join('\n');
    const sql = readdirSync('schemas/clickhouse')
      .filter((name) => name.endsWith('.sql'))
      .map((name) => readFileSync(`schemas/clickhouse/${name}`, 'utf8'))
      .join('\n');
    expect(sql).toMatch(/^CREATE OR REPLACE VIEW/m);
    expect(granted).toContain('DROP VIEW ON weir.*');
    expect(granted).toContain('DROP TABLE ON weir._tmp_replace_*');
    const changed = [...sql.matchAll(/^(DROP TABLE IF EXISTS|ALTER TABLE) (\w+)/gm)];
    expect(changed.length).toBeGreaterThan(0);
    for (const [, statement, table] of changed) {
      expect(granted).toMatch(new RegExp(`GRANT ${statement?.split(' ')[0]} .* ON weir\\.${table}$`, 'm'));
    }
  });
});

import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { DependencyError } from '@weir/domain/errors';
import { type Analytics, STATEMENT_BYTES_MAX } from '@weir/ports/analytics';
import { clickhouseDrift, type DriftedServer, SHARDS_QUERY, TABLES_QUERY, VERSION_QUERY } from './clickhouse-drift.ts';
import { EACH_ROW_OR_ERROR, insertError, statementError, WHOLE_OR_ERROR, wholeNumberIn } from './clickhouse-errors.ts';
import { DATES_STAY_TEXTS, EXACT_JSON_QUERY, EXACT_JSON_SETTINGS, holdsLossyJson } from './clickhouse-exact-json.ts';
import { type MigrationStep, migrateClickhouse } from './clickhouse-migrate.ts';
import { exchangeGenerations } from './exchange-generations.ts';
import { fenceColumn, readGeneration, withFenceValue } from './generation-fence.ts';
import { DYNAMIC_KEYS, runUserQuery } from './run-user-query.ts';
import { readLatestBlock, untilRunningInsertsEnd } from './running-inserts.ts';
import { SELECT_TOKENS_QUERY, selectTokenSettings } from './select-tokens.ts';
import { readStoredTables } from './stored-tables.ts';
import { streamQuery } from './stream-query.ts';

export interface ClickhouseAnalyticsConfig {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  /** The ClickHouse user for `userQuery`, which runs reports and the SQL of Weir's users. Default: `username` above, with read-only settings. */
  readonly reader?: { readonly url: string; readonly username: string; readonly password: string };
  /** The database of Weir's tables. Default: `weir`. */
  readonly database?: string;
  /** A cluster of one shard: tables are replicated, and inserts need a quorum. Default: one server. */
  readonly cluster?: string | undefined;
  /** The folder with the SQL migrations: `schemas/clickhouse`. */
  readonly migrationsDir: string;
  /** How long a request waits for its answer. Does not apply to `streamQuery`. Default: 120 s. */
  readonly requestTimeoutMs?: number;
  /** Called before each migration of a database that exists. Not called for a new database. */
  readonly onMigration?: (step: MigrationStep) => void;
}

/** The time limit of a statement, in the server (`max_execution_time`) and in the client. */
export const REQUEST_TIMEOUT_MS = 120_000;
/** The request timeout for `streamQuery`. It is longer than any query's time limit, because `streamQuery` itself ends requests after that limit. */
const STREAM_TIMEOUT_MS = 24 * 3_600_000;
const CONNECTIONS_MAX = 24;
const INSERT_ROWS_MAX = 10_000_000;
const INSERT_BYTES_MAX = 1024 * 1024 * 1024;

/** With these settings, an insert into `records` is one block with one token, skips no row, and is answered only when its rows are durable. */
const INSERT_SETTINGS = {
  ...EACH_ROW_OR_ERROR,
  // The server aborts an insert after the time that the client waits for its answer. So the writer knows how long an insert with an
  // unknown result can still store its rows.
  max_execution_time: REQUEST_TIMEOUT_MS / 1000,
  async_insert: 0,
  wait_end_of_query: 1,
  input_format_parallel_parsing: 0,
  input_format_skip_unknown_fields: 0,
  input_format_null_as_default: 1,
  // With the value 0, ClickHouse stores an invalid escape sequence, such as an unpaired surrogate, as text, and does not refuse the row. The enricher
  // writes no such escapes (json-text.ts), so this setting is only a precaution.
  input_format_json_throw_on_bad_escape_sequence: 0,
  ...DATES_STAY_TEXTS,
  // `[true, "red"]` is stored as sent. Without these settings, ClickHouse would convert it to two strings.
  input_format_json_read_bools_as_strings: 0,
  input_format_json_read_bools_as_numbers: 0,
  input_format_json_read_numbers_as_strings: 0,
  // `{"a.b": 1, "a": {"b": 2}}` has the path `a.b` twice. ClickHouse then stores one of the values and does not refuse the row.
  type_json_skip_duplicated_paths: 1,
  max_insert_block_size: String(INSERT_ROWS_MAX),
  min_insert_block_size_rows: String(INSERT_ROWS_MAX),
  min_insert_block_size_bytes: String(INSERT_BYTES_MAX),
  insert_deduplicate: 1,
  deduplicate_blocks_in_dependent_materialized_views: 1,
  date_time_input_format: 'best_effort',
} as const;

/** Without the sizes, ClickHouse refuses a statement with about 50,000 parts, such as deleting a person with 2,000 devices of several users. */
const STATEMENT_SETTINGS = {
  ...WHOLE_OR_ERROR,
  max_query_size: String(STATEMENT_BYTES_MAX),
  max_ast_elements: String(STATEMENT_BYTES_MAX),
  max_expanded_ast_elements: String(STATEMENT_BYTES_MAX),
};
/** Settings of queries that Weir wrote. The server ends a query when the client gives up, so that retries do not accumulate. */
const SELECT_SETTINGS = { ...STATEMENT_SETTINGS, max_execution_time: REQUEST_TIMEOUT_MS / 1000 } as const;
/**
 * Settings of the statements that `change` runs. `mutations_sync`: an ALTER … DELETE or UPDATE ends only when all replicas have done it.
 * `allow_nondeterministic_mutations`: without it, a replicated table refuses a subquery in an ALTER … DELETE or UPDATE. Such a subquery
 * reads only tables that do not change meanwhile, so all replicas get the same result.
 */
const CHANGE_SETTINGS = {
  ...STATEMENT_SETTINGS,
  mutations_sync: '2',
  allow_nondeterministic_mutations: 1,
  max_execution_time: REQUEST_TIMEOUT_MS / 1000,
} as const;
/**
 * With these settings, an INSERT … SELECT reads and inserts all of its rows in one thread, as one block. So its token covers all of these
 * rows.
 */
const ONE_BLOCK = { max_threads: 1, max_block_size: String(INSERT_ROWS_MAX) } as const;

/**
 * With a quorum, the loss of one replica loses no acknowledged insert. While there is no quorum, the server must time out before the
 * client does. Otherwise retries accumulate on the server.
 */
const CLUSTER_INSERT_SETTINGS = { insert_quorum: 'auto', insert_quorum_timeout: 60_000 } as const;

/** The settings of every insert that has a deduplication token, for example the inserts of the writer and the copies of a replay. */
export function clickhouseInsertSettings(cluster: string | undefined) {
  return { ...INSERT_SETTINGS, ...(cluster === undefined ? {} : CLUSTER_INSERT_SETTINGS) };
}

export interface ClickhouseAnalytics extends Analytics {
  /** The settings with which the server deduplicates an `INSERT … SELECT` with a token (select-tokens.ts). */
  selectTokens(): Promise<Readonly<Record<string, string | number>>>;
  /** Resolves with one sentence for each fact that breaks exactly-once (clickhouse-drift.ts). Call it every minute. */
  drift(): Promise<readonly string[]>;
  /**
   * Exchanges the tables of this database with those of the database `shadow` (`exchangeGenerations`). `generation` is the generation
   * (docs/glossary.md) of this database after the exchange: the present one plus 1. After a rejection or a kill, call it again with the
   * same number until it resolves.
   */
  exchangeWith(shadow: string, generation: number): Promise<void>;
  /**
   * Resolves when ClickHouse's folder `shadow/<name>` contains hard links to all parts of all tables. If nothing is inserted meanwhile,
   * these files are a consistent copy of all tables.
   */
  freezeTables(name: string): Promise<void>;
}

/** Returns without connecting: the first call connects. `migrate` creates the database and its tables. */
export function openClickhouseAnalytics(config: ClickhouseAnalyticsConfig): ClickhouseAnalytics {
  const { url, username, password, reader: user, cluster, database = 'weir', requestTimeoutMs } = config;
  const insertSettings = clickhouseInsertSettings(cluster);
  const connection = {
    url,
    username,
    password,
    database,
    request_timeout: requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
    max_open_connections: CONNECTIONS_MAX,
    clickhouse_settings: DATES_STAY_TEXTS,
    // The client must not log, because its log lines would contain statements. Callers log the errors.
    log: { level: ClickHouseLogLevel.OFF },
  };
  const client = createClient(connection);
  // If the reader has its own user, the profile of this user has the settings (infra/clickhouse/users.yaml). ClickHouse refuses other settings.
  const hasProfile = user !== undefined && user.username !== username;
  const readerSettings = hasProfile ? {} : { ...WHOLE_OR_ERROR, ...DATES_STAY_TEXTS, ...DYNAMIC_KEYS };
  const reader = createClient({ ...connection, ...user, clickhouse_settings: readerSettings });
  const streamer = createClient({ ...connection, request_timeout: STREAM_TIMEOUT_MS });
  // `responds` has its own connections, because all connections of the other clients can be busy with long statements.
  const responder = createClient(connection);

  /**
   * True if the server has the setting of `EXACT_JSON_SETTINGS`; older servers refuse it. Only the answer true is kept, until an insert fails: another
   * version of ClickHouse can answer at any time, for example after an upgrade.
   */
  let hasExactJson = false;
  async function exactJsonKnown(): Promise<boolean> {
    if (hasExactJson) return true;
    const [row] = await select<{ known: string | number }>(EXACT_JSON_QUERY);
    hasExactJson = wholeNumberIn(row?.known) > 0;
    return hasExactJson;
  }

  async function selectTokens(): Promise<Readonly<Record<string, string | number>>> {
    return selectTokenSettings(await select<{ name: string }>(SELECT_TOKENS_QUERY));
  }

  return {
    selectTokens,

    async migrate() {
      try {
        await migrateClickhouse(config, database);
      } catch (error) {
        throw error instanceof DependencyError ? error : statementError(error);
      }
    },

    generation: () => readGeneration(select),

    async insertRecords({ columns, lines, token, generation }) {
      if (lines.length === 0) return;
      try {
        const fenced = generation === undefined ? columns : [...columns, fenceColumn(generation)];
        const body = generation === undefined ? Buffer.concat(lines) : withFenceValue(lines);
        const exact = holdsLossyJson(body) && (await exactJsonKnown()) ? EXACT_JSON_SETTINGS : {};
        // Uses `exec` instead of `insert`, because the rows are already serialized.
        const { stream } = await client.exec({
          query: `INSERT INTO records (${fenced.join(', ')}) FORMAT JSONCompactEachRow`,
          values: Readable.from([body], { objectMode: false }),
          clickhouse_settings: { ...insertSettings, ...exact, insert_deduplication_token: token },
        });
        await finished(stream.resume());
      } catch (error) {
        hasExactJson = false;
        throw insertError(error);
      }
    },

    async highestRawOffset(logId, partition) {
      const [row] = await select<{ highest: string | number }>(
        'SELECT if(count() = 0, -1, toInt64(max(raw_offset))) AS highest FROM records ' +
          'WHERE log_id = {logId:String} AND raw_partition = {partition:UInt32}',
        { logId, partition },
      );
      return wholeNumberIn(row?.highest);
    },

    latestBlock: () => readLatestBlock(select),

    select,

    async change(statement, token) {
      try {
        const once =
          token === undefined
            ? {}
            : { ...insertSettings, ...ONE_BLOCK, ...(await selectTokens()), insert_deduplication_token: token };
        await client.command({ query: statement, clickhouse_settings: { ...CHANGE_SETTINGS, ...once } });
      } catch (error) {
        throw statementError(error);
      }
    },

    runningInsertsEnd: (tables) => untilRunningInsertsEnd(select, tables, cluster),

    userQuery: (query, params, options = {}) => runUserQuery(reader, query, params, options),

    streamQuery: (query, params, options) => streamQuery(streamer, query, params, options),

    async exchangeWith(shadow, generation) {
      const stored = await readStoredTables(config.migrationsDir);
      await exchangeGenerations({ run, select }, { live: database, shadow, generation, cluster, ...stored });
    },

    async drift() {
      const [server] = await select<{ version: string }>(VERSION_QUERY);
      const tables = await select<DriftedServer['tables'][number]>(TABLES_QUERY);
      const [of] = cluster === undefined ? [] : await select<{ shards: string }>(SHARDS_QUERY, { cluster });
      return clickhouseDrift({
        version: server?.version ?? '',
        tables,
        shards: of === undefined ? undefined : Number(of.shards),
        latestBlock: await readLatestBlock(select),
      });
    },

    async freezeTables(name) {
      if (!/^[a-z0-9_]{1,64}$/.test(name)) throw new TypeError(`not a name of a freeze: ${name}`);
      const tables = await select<DriftedServer['tables'][number]>(TABLES_QUERY);
      try {
        for (const table of tables) {
          // The statement contains the name as text, because FREEZE accepts no query parameter for it.
          const query = `ALTER TABLE {table:Identifier} FREEZE WITH NAME '${name}'`;
          await client.command({ query, query_params: { table: table.name } });
        }
      } catch (error) {
        throw statementError(error);
      }
    },

    async ping() {
      const result = await client.ping({ select: true });
      if (!result.success)
        throw new DependencyError('analytics_unavailable', result.error.message, { cause: result.error });
    },

    async responds(withinMs) {
      const limit = AbortSignal.timeout(withinMs);
      // An error status or a refused connection also counts as a response: in such a state, other calls fail at once and do not wait.
      await responder.ping({ select: false, abort_signal: limit });
      if (limit.aborted) throw new DependencyError('analytics_unavailable', `no response within ${withinMs} ms`);
    },

    close: () => Promise.all([client, reader, streamer, responder].map((one) => one.close())).then(() => undefined),
  };

  async function run(statement: string): Promise<void> {
    try {
      // With alter_sync = 2, an ALTER on a cluster waits until every replica has altered its table.
      await client.command({ query: statement, clickhouse_settings: { alter_sync: '2' } });
    } catch (error) {
      throw statementError(error);
    }
  }

  async function select<Row>(query: string, params: Readonly<Record<string, unknown>> = {}): Promise<readonly Row[]> {
    try {
      const result = await client.query({
        query,
        query_params: { ...params },
        format: 'JSONEachRow',
        clickhouse_settings: SELECT_SETTINGS,
      });
      return await result.json<Row>();
    } catch (error) {
      throw statementError(error);
    }
  }
}

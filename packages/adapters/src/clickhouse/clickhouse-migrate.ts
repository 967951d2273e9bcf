import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ClickHouseClient,
  ClickHouseError,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
} from '@clickhouse/client';
import { DependencyError } from '@weir/domain/errors';
import { sqlStatements } from '@weir/embedded-clickhouse/sql-tokens';
import { WHOLE_OR_ERROR } from './clickhouse-errors.ts';
import { onCluster } from './clickhouse-on-cluster.ts';

export interface MigrateConfig {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly migrationsDir: string;
  /** The cluster on which replicated tables are created. `undefined` for one server without replicas. */
  readonly cluster?: string | undefined;
  /** Called before each migration of a database that exists. Not called for a new database. */
  readonly onMigration?: (step: MigrationStep) => void;
}

export interface MigrationStep {
  /** The name of the file. */
  readonly migration: string;
  /** The position of this migration among the `of` migrations that were missing at the beginning; the first has 1. */
  readonly number: number;
  readonly of: number;
}

/**
 * The time limit of a statement. It is long, because a statement can fill a table from all rows. With a shorter limit, the client would
 * repeat a statement that is still running.
 */
const STATEMENT_MS_MAX = 6 * 3600_000;
const MIGRATION_NAME = /^\d{3}_[a-z0-9_]+\.sql$/;

/** Maps the current name of a migration to its former name: two migrations once had the number 003. */
const FORMER_NAMES: ReadonlyMap<string, string> = new Map([
  ['000_records.sql', '001_records.sql'],
  ['001_outcomes.sql', '002_outcomes.sql'],
  ['002_session_fragments.sql', '003_session_fragments.sql'],
]);

/** Digests of earlier texts of migrations. The present texts differ only in comments, so a database with such a digest is accepted. */
const FORMER_DIGESTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['000_records.sql', ['98fbff4ac3e7278c7da9f4c88edcd554aae07591dd366ddfdc28e6bc90bfbda9']],
]);

/** The first line of a migration that must fill a table again, for example because the migration changes the sorting key. */
const REBUILD = /^-- rebuild\b/;

/** With these settings, ClickHouse refuses to drop a table that has rows. The value 0 would mean that there is no limit. */
const DROP_ONLY_EMPTY = { max_table_size_to_drop: '1', max_partition_size_to_drop: '1' };

/**
 * Applies the migrations that are not in `schema_migrations`, in the order of their names. Each statement is idempotent. So several processes
 * may run migrations concurrently, and a migration that was killed between two statements may run again. A migration that begins with
 * `-- rebuild` is applied only while `records` is empty. Otherwise a replay applies it to the shadow tables (docs/decisions/0038).
 */
export async function migrateClickhouse(config: MigrateConfig, database: string): Promise<void> {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(database)) throw new TypeError(`not a database name: ${database}`);
  // This client has no default database, because the database may not exist yet.
  const bare = openClient(config);
  let digests: Digests | undefined;
  try {
    digests = await readDigests(bare, database);
    if (digests === undefined) {
      await bare.command({ query: onCluster(`CREATE DATABASE IF NOT EXISTS ${database}`, config.cluster) });
    }
  } finally {
    await bare.close();
  }
  const client = openClient(config, database);
  try {
    await applyMissing(client, config, database, digests);
  } finally {
    await client.close();
  }
}

/** Lists the migrations that begin with `-- rebuild` and are not applied to the database. */
export async function missingRebuilds(config: MigrateConfig, database: string): Promise<readonly string[]> {
  const client = openClient(config);
  try {
    const applied = await readDigests(client, database);
    const migrations = await readMigrations(config.migrationsDir);
    return migrations.filter(({ name, sql }) => REBUILD.test(sql) && !applied?.has(name)).map(({ name }) => name);
  } finally {
    await client.close();
  }
}

async function readMigrations(folder: string): Promise<readonly { readonly name: string; readonly sql: string }[]> {
  const names = (await readdir(folder)).filter((name) => MIGRATION_NAME.test(name)).sort();
  return Promise.all(names.map(async (name) => ({ name, sql: await readFile(join(folder, name), 'utf8') })));
}

/** Maps the name of each applied migration to the SHA-256 of its file. */
type Digests = ReadonlyMap<string, string>;

const UNKNOWN_TABLE = '60';
const UNKNOWN_DATABASE = '81';

/**
 * Reads the digests of the applied migrations. Returns `undefined` if the table `schema_migrations` does not exist. Call it before
 * any statement ON CLUSTER, which waits for every replica. If the digests show that no migration is missing, such statements are not needed: a
 * start must not wait for an unavailable replica.
 */
async function readDigests(client: ClickHouseClient, database: string): Promise<Digests | undefined> {
  try {
    const applied = await client.query({
      query: `SELECT DISTINCT name, digest FROM ${database}.schema_migrations`,
      format: 'JSONEachRow',
    });
    return new Map((await applied.json<{ name: string; digest: string }>()).map((row) => [row.name, row.digest]));
  } catch (error) {
    if (error instanceof ClickHouseError && [UNKNOWN_TABLE, UNKNOWN_DATABASE].includes(error.code)) return undefined;
    throw error;
  }
}

async function applyMissing(
  client: ClickHouseClient,
  config: MigrateConfig,
  database: string,
  known: Digests | undefined,
): Promise<void> {
  const filling = await fillingFor(client, config, database);
  const run = (query: string, settings: ClickHouseSettings = {}): Promise<unknown> =>
    client.command({
      query: onCluster(query, config.cluster),
      clickhouse_settings: { ...WHOLE_OR_ERROR, max_execution_time: STATEMENT_MS_MAX / 1000, ...settings },
    });
  if (known === undefined) {
    await run(
      "CREATE TABLE IF NOT EXISTS schema_migrations (name String, digest String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3)) " +
        'ENGINE = MergeTree ORDER BY name SETTINGS fsync_after_insert = 1, fsync_part_directory = 1',
    );
  }

  const missing = (await readMigrations(config.migrationsDir))
    .map(({ name, sql }) => ({ name, sql, digest: createHash('sha256').update(sql).digest('hex') }))
    .filter(({ name, digest }) => !isKnown(name, digest, known));
  for (const [index, { name, sql, digest }] of missing.entries()) {
    const isRebuild = REBUILD.test(sql);
    if (isRebuild && (await hasRows(client))) continue;
    if (known !== undefined) config.onMigration?.({ migration: name, number: index + 1, of: missing.length });
    const apply = async (): Promise<void> => {
      for (const statement of sqlStatements(sql)) {
        await run(filled(statement, filling), isRebuild ? DROP_ONLY_EMPTY : {});
      }
    };
    if (!(await isApplied(apply, async () => (await readDigests(client, database))?.get(name) === digest))) continue;
    await client.command({
      query: 'INSERT INTO schema_migrations (name, digest) SELECT {name:String}, {digest:String}',
      query_params: { name, digest },
    });
  }
}

/** Whether the migration is applied. Throws if the migration was applied with another text under the same name. */
function isKnown(name: string, digest: string, known: Digests | undefined): boolean {
  const applied = known?.get(name) ?? known?.get(FORMER_NAMES.get(name) ?? '');
  if (applied === undefined) return false;
  if (applied === digest || FORMER_DIGESTS.get(name)?.includes(applied)) return true;
  throw new DependencyError(
    'analytics_refused',
    `the migration ${name} was changed after it was applied: restore the file and add a new migration`,
  );
}

/** The maximum number of attempts of a migration while another process drops a table that the migration uses. */
const ATTEMPTS_MAX = 5;

/**
 * Applies a migration with `apply`. Resolves with true when `apply` has succeeded. Resolves with false if `apply` fails after another process has
 * applied the same migration (`isByOthers`). `apply` can fail because a faster process has dropped a table that the migration uses:
 * - A later migration of the faster process has dropped the table. Then this migration is already applied, and the result is false. The caller
 *   applies the later migrations again, because this attempt may have reverted some of their changes.
 * - The last statements of the same migration have dropped the table. Then this function applies the migration again from its beginning, which
 *   creates the table.
 */
async function isApplied(apply: () => Promise<void>, isByOthers: () => Promise<boolean>): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      await apply();
      return true;
    } catch (error) {
      if (await isByOthers()) return false;
      if (!(error instanceof ClickHouseError && error.code === UNKNOWN_TABLE) || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

/** Whether `records` has rows. Returns false if the table does not exist: an interrupted rebuild can have dropped it while it was empty. */
async function hasRows(client: ClickHouseClient): Promise<boolean> {
  try {
    const answer = await client.query({ query: 'SELECT 1 AS one FROM records LIMIT 1', format: 'JSONEachRow' });
    return (await answer.json()).length > 0;
  } catch (error) {
    if (error instanceof ClickHouseError && error.code === UNKNOWN_TABLE) return false;
    throw error;
  }
}

interface Filling {
  readonly database: string;
  readonly username: string;
  readonly password: string;
}

/**
 * Returns the values for the placeholders of a migration. The definition of a dictionary contains the user that reads its table. In the
 * embedded engine, this user is not the user of the HTTP interface, but an internal user without a password.
 */
async function fillingFor(client: ClickHouseClient, config: MigrateConfig, database: string): Promise<Filling> {
  const answer = await client.query({ query: 'SELECT currentUser() AS username', format: 'JSONEachRow' });
  const username = (await answer.json<{ username: string }>())[0]?.username ?? config.username;
  return { database, username, password: username === config.username ? config.password : '' };
}

function filled(statement: string, filling: Filling): string {
  return statement.replace(/\{(username|password|database)\}/g, (_, name: keyof Filling) =>
    filling[name].replace(/[\\']/g, '\\$&'),
  );
}

function openClient({ url, username, password }: MigrateConfig, database?: string): ClickHouseClient {
  const log = { level: ClickHouseLogLevel.OFF };
  const limits = { request_timeout: STATEMENT_MS_MAX };
  return createClient({ url, username, password, log, ...limits, ...(database === undefined ? {} : { database }) });
}

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ClickHouseClient, ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { DependencyError } from '@weir/domain/errors';
import { sqlStatements } from '@weir/embedded-clickhouse/sql-tokens';
import { onCluster } from './clickhouse-on-cluster.ts';

export interface MigrateConfig {
  readonly url: string;
  readonly username: string;
  readonly password: string;
  readonly migrationsDir: string;
  /** The cluster on which replicated tables are created. `undefined` for one server without replicas. */
  readonly cluster?: string | undefined;
}

/** A statement that fills a table from all rows may take this long. Without it, the client would repeat a statement that is still running. */
const STATEMENT_MS_MAX = 6 * 3600_000;
const MIGRATION_NAME = /^\d{3}_[a-z0-9_]+\.sql$/;

/** Maps the current name of a migration to its former name: two migrations once had the number 003. */
const FORMER_NAMES: ReadonlyMap<string, string> = new Map([
  ['000_records.sql', '001_records.sql'],
  ['001_outcomes.sql', '002_outcomes.sql'],
  ['002_session_fragments.sql', '003_session_fragments.sql'],
]);

/** Digests of earlier texts of migrations. Only comments have changed since, so a database with such a digest is accepted. */
const FORMER_DIGESTS: ReadonlyMap<string, readonly string[]> = new Map([
  ['000_records.sql', ['98fbff4ac3e7278c7da9f4c88edcd554aae07591dd366ddfdc28e6bc90bfbda9']],
]);

/**
 * Applies the migrations that are not in `schema_migrations`, in the order of their names. Each statement is idempotent. So the
 * tables are the same if migrations run concurrently, or if a migration was killed between two statements and runs again.
 */
export async function migrateClickhouse(config: MigrateConfig, database: string): Promise<void> {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(database)) throw new TypeError(`not a database name: ${database}`);
  // This client names no database, because the database may not exist yet.
  const bare = openClient(config);
  let digests: Digests | undefined;
  try {
    digests = await readDigests(bare, database);
    if (digests === undefined) {
      await bare.command({ query: forCluster(`CREATE DATABASE IF NOT EXISTS ${database}`, config) });
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

/** Maps the name of each applied migration to the SHA-256 of its file. */
type Digests = ReadonlyMap<string, string>;

const UNKNOWN_TABLE = '60';
const UNKNOWN_DATABASE = '81';

/**
 * Reads the digests of the applied migrations. Returns `undefined` if the table `schema_migrations` does not exist. It runs before any
 * statement ON CLUSTER, because such a statement waits for every replica: if no migration is missing, a start must not wait for an
 * unavailable replica.
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
  const { migrationsDir } = config;
  const filling = await fillingFor(client, config, database);
  const run = (query: string): Promise<unknown> => client.command({ query: forCluster(query, config) });
  if (known === undefined) {
    await run(
      "CREATE TABLE IF NOT EXISTS schema_migrations (name String, digest String, applied_at DateTime64(3, 'UTC') DEFAULT now64(3)) " +
        'ENGINE = MergeTree ORDER BY name SETTINGS fsync_after_insert = 1, fsync_part_directory = 1',
    );
  }

  const names = (await readdir(migrationsDir)).filter((name) => MIGRATION_NAME.test(name)).sort();
  for (const name of names) {
    const sql = await readFile(join(migrationsDir, name), 'utf8');
    const digest = createHash('sha256').update(sql).digest('hex');
    const applied = known?.get(name) ?? known?.get(FORMER_NAMES.get(name) ?? '');
    if (applied === digest) continue;
    if (applied !== undefined && FORMER_DIGESTS.get(name)?.includes(applied)) continue;
    if (applied !== undefined) {
      throw new DependencyError(
        'analytics_refused',
        `the migration ${name} was changed after it was applied: restore the file and add a new migration`,
      );
    }
    try {
      for (const statement of sqlStatements(sql)) await run(filled(statement, filling));
    } catch (error) {
      // Another process can be faster: a later migration has dropped a table that this one uses. The later migrations are then
      // applied again, because this one may have replaced what they had changed.
      const others = await readDigests(client, database);
      if (others?.get(name) === digest) continue;
      throw error;
    }
    await client.command({
      query: 'INSERT INTO schema_migrations (name, digest) SELECT {name:String}, {digest:String}',
      query_params: { name, digest },
    });
  }
}

function forCluster(statement: string, { cluster }: MigrateConfig): string {
  return cluster === undefined ? statement : onCluster(statement, { cluster });
}

interface Filling {
  readonly database: string;
  readonly username: string;
  readonly password: string;
}

/**
 * Returns the values for the placeholders of a migration. The statement of a dictionary names the user that reads its table. In the
 * embedded engine, this is not the user of the HTTP interface but an internal user without a password.
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

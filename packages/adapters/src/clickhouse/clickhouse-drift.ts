/** The first version of ClickHouse that has JSON columns, and materialized views that deduplicate by the token of the insert. */
const VERSION_MIN = '25.8';
/**
 * The minimum number of tokens that a table must remember (`non_replicated_deduplication_window` in schemas/clickhouse). When a process fails,
 * another process repeats its last insert, and the table must still have the token of this insert. With 4 partitions that insert every 250 ms, a
 * table remembers a token for 10 minutes (docs/decisions/0006).
 */
const WINDOW_MIN = 10_000;
const OWN_TABLES = ['schema_migrations'];

export interface DriftedServer {
  readonly version: string;
  readonly tables: readonly { readonly name: string; readonly engine: string; readonly engine_full: string }[];
  /** Number of shards of the configured cluster; `undefined` if no cluster is configured. */
  readonly shards: number | undefined;
  /** The latest block of `records` (running-inserts.ts); `undefined` if Weir's user may not read it. */
  readonly latestBlock: number | undefined;
}

export const VERSION_QUERY = 'SELECT version() AS version';
export const TABLES_QUERY =
  "SELECT name, engine, engine_full FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'";
export const SHARDS_QUERY =
  'SELECT uniqExact(shard_num) AS shards FROM system.clusters WHERE cluster = {cluster:String}';

/** Returns one sentence for each fact that breaks exactly-once: about the version of the server, its cluster, or the settings of its tables. */
export function clickhouseDrift({ version, tables, shards, latestBlock }: DriftedServer): readonly string[] {
  const found: string[] = [];
  if (isOlder(version, VERSION_MIN)) found.push(`version is ${version}, not ${VERSION_MIN} or later`);
  // Several shards would need distributed tables, and each deduplication token would be stored on one shard only.
  if (shards !== undefined && shards !== 1) found.push(`the cluster has ${shards} shards, not 1`);
  if (latestBlock === undefined)
    found.push("Weir's user may not read system.parts: GRANT SELECT ON system.parts is missing");
  for (const { name, engine, engine_full } of tables) {
    if (OWN_TABLES.includes(name)) continue;
    const copied = engine.startsWith('Replicated');
    if (shards !== undefined && !copied)
      found.push(`${name}: ${engine} is not replicated, although a cluster is configured`);
    const setting = copied ? 'replicated_deduplication_window' : 'non_replicated_deduplication_window';
    const window = Number(engine_full.match(new RegExp(`\\b${setting} = (\\d+)`))?.[1] ?? 0);
    if (window < WINDOW_MIN) found.push(`${name}: ${setting} is ${window}, not ${WINDOW_MIN} or more`);
  }
  return found;
}

function isOlder(version: string, than: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [majorMin = 0, minorMin = 0] = than.split('.').map(Number);
  return major < majorMin || (major === majorMin && minor < minorMin);
}

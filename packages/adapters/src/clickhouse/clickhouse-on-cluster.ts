const DEFINITION = new RegExp(
  `^(\\s*(?:--[^\\n]*\\n\\s*)*(?:${[
    'CREATE (?:TABLE|VIEW|MATERIALIZED VIEW|DICTIONARY|DATABASE) IF NOT EXISTS',
    'CREATE OR REPLACE VIEW',
    'DROP (?:TABLE|VIEW) IF EXISTS',
    'ALTER TABLE',
  ].join('|')}) \\w+)`,
);
const ENGINE = /\bENGINE = ((?:[A-Z][A-Za-z]*)?MergeTree)\b(\()?/;
/**
 * The setting for the deduplication window of a table without replicas. For a replicated table, the setting has another name, and a second setting
 * limits the age of tokens. A limit of one week is enough: another process repeats the last insert of a failed process much earlier.
 */
const WINDOW = /\bnon_replicated_deduplication_window = (\d+)/;
const WINDOW_SECONDS = 7 * 24 * 3600;

/** The clause with which a statement runs on all replicas of the cluster. Empty without a cluster. */
export function clusterClause(cluster: string | undefined): string {
  return cluster === undefined ? '' : ` ON CLUSTER '${cluster}'`;
}

/**
 * Rewrites a statement of a migration for a cluster of one shard and any number of replicas. Adds ON CLUSTER, and replaces engines and their
 * deduplication window by the replicated ones, which use the server's default Keeper path and replica name. Does not change an INSERT: it runs on
 * one replica, and ClickHouse replicates its rows. Without a cluster, returns the statement unchanged.
 */
export function onCluster(statement: string, cluster: string | undefined): string {
  if (cluster === undefined) return statement;
  return statement
    .replace(DEFINITION, `$1${clusterClause(cluster)}`)
    .replace(ENGINE, (_, engine: string, open: string | undefined) => `ENGINE = Replicated${engine}${open ?? ''}`)
    .replace(
      WINDOW,
      `replicated_deduplication_window = $1, replicated_deduplication_window_seconds = ${WINDOW_SECONDS}`,
    );
}

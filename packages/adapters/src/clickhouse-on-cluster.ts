/** A cluster of one shard and any number of replicas. */
export interface OnCluster {
  /** As system.clusters names it. */
  readonly cluster: string;
}

const CREATE = /^(\s*(?:--[^\n]*\n\s*)*CREATE (?:TABLE|VIEW|MATERIALIZED VIEW|DICTIONARY|DATABASE) IF NOT EXISTS \w+)/;
const ENGINE = /\bENGINE = ((?:[A-Z][A-Za-z]*)?MergeTree)\b(\()?/;
/** Of a table that is alone; one with copies has its own, in Keeper, and forgets by time too: a week is the longest takeover. */
const WINDOW = /\bnon_replicated_deduplication_window = (\d+)/;
const WINDOW_SECONDS = 7 * 24 * 3600;

/**
 * A statement of a migration as a cluster needs it: made on every replica, engines that copy each other (with the server's own
 * default path in Keeper and name of the replica), and the window that they forget tokens by. Anything else stays as it is.
 */
export function onCluster(statement: string, { cluster }: OnCluster): string {
  return statement
    .replace(CREATE, `$1 ON CLUSTER '${cluster}'`)
    .replace(ENGINE, (_, engine: string, open: string | undefined) => `ENGINE = Replicated${engine}${open ?? ''}`)
    .replace(
      WINDOW,
      `replicated_deduplication_window = $1, replicated_deduplication_window_seconds = ${WINDOW_SECONDS}`,
    );
}

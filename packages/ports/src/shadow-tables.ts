import type { Analytics } from './analytics.ts';

/**
 * The shadow tables: a second, complete set of tables in a database of its own, which a replay fills. Implementation:
 * `packages/adapters/src/clickhouse/clickhouse-shadow.ts`. The methods reject with `analytics_unavailable` (a retry may succeed) or
 * `analytics_refused` (a retry of the same call fails again).
 */
export interface ShadowTables {
  /** The names of the databases with the live tables and with the shadow tables, for use in SQL. */
  readonly live: string;
  readonly shadow: string;
  /** Runs queries and inserts on the shadow tables. Use it only after `create`. */
  readonly analytics: Analytics;

  /** Resolves with the names of the migrations that the live tables lack because only a replay can apply them. */
  missingRebuilds(): Promise<readonly string[]>;
  /** Resolves when the shadow tables exist, with all migrations. Safe to call again. */
  create(): Promise<void>;
  /**
   * Copies the rows of the live table `records` that match the condition into the shadow table `records`, as one block; its views are
   * filled too. The `received_at` of all these rows must be in the same month. Repeating a call with the same token changes nothing.
   */
  copy(rows: CopiedRows): Promise<void>;
  /**
   * Exchanges the live tables and the shadow tables. `generation` is the number that the live tables then have: one more than before.
   * After a rejection or a kill, call it again with the same generation until it resolves; if the exchange is done already, it resolves
   * at once. The live tables then also have the migrations that only the shadow tables had. No writer may insert into either set of tables
   * during the exchange.
   */
  exchange(generation: number): Promise<void>;
  /** Resolves when the shadow tables and their database do not exist. Safe to call again. */
  drop(): Promise<void>;
}

const DATABASE_CHARS_MAX = 64;
const SUFFIX = '_shadow';

/** Returns the name of the database that has the shadow tables of the database `live`. It has at most 64 characters. */
export function shadowDatabase(live: string): string {
  return `${live.slice(0, DATABASE_CHARS_MAX - SUFFIX.length)}${SUFFIX}`;
}

export interface CopiedRows {
  readonly condition: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly token: string;
}

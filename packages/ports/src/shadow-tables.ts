import type { Analytics } from './analytics.ts';

/**
 * The shadow tables: a second, complete set of tables in a database of its own, which a replay fills. Implementation:
 * `adapters/clickhouse/clickhouse-shadow.ts`. The methods reject as those of `Analytics` do.
 */
export interface ShadowTables {
  /** The names of the two databases, as SQL needs them. */
  readonly live: string;
  readonly shadow: string;
  /** Works on the shadow tables. Only after `create`. */
  readonly analytics: Analytics;

  /** Resolves when the shadow tables exist. Safe to call again. */
  create(): Promise<void>;
  /**
   * Copies the rows of `records` that match the condition into the shadow's `records`, as one block, and so into every view of it.
   * All of them must be of one month of received_at. The same call again, with the same token, changes nothing.
   */
  copy(rows: CopiedRows): Promise<void>;
  /**
   * Resolves when the live tables and the shadow tables have changed places, so that the live ones are of this generation: one more than
   * they were. After a rejection or a kill, call it again with the same generation until it resolves; if that is done already, it
   * resolves at once. No writer may insert into either side meanwhile.
   */
  exchange(generation: number): Promise<void>;
  /** Resolves when the shadow tables and their database do not exist. Safe to call again. */
  drop(): Promise<void>;
}

export interface CopiedRows {
  readonly condition: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly token: string;
}

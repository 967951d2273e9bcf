/**
 * The analytics store: ClickHouse, embedded or a server, through `adapters/clickhouse-analytics.ts`.
 * Rejects with `analytics_unavailable` (repeat) or `analytics_refused` (repeating changes nothing).
 */
export interface Analytics {
  /** Applies the migrations of `schemas/clickhouse` that are missing, in order. Safe to run from several processes at once. */
  migrate(): Promise<void>;

  /**
   * Inserts lines (JSONCompactEachRow, one record a line, each ending in \n) into `records`, as one block.
   * Repeating it with the same token and the same bytes changes nothing, in `records` and in every view's target.
   */
  insertRecords(batch: RecordsBatch): Promise<void>;

  /** The highest raw offset that `records` holds of this log and partition; -1 where there is none. */
  highestRawOffset(logId: string, partition: number): Promise<number>;

  /** Weir's own read-only queries. `params` fill `{name:Type}` placeholders. */
  select<Row>(query: string, params?: Readonly<Record<string, unknown>>): Promise<readonly Row[]>;

  /** A user's query, under read-only rules and limits: one SELECT-like statement. Refusals are `analytics_refused`. */
  userQuery(query: string, params: Readonly<Record<string, unknown>>): Promise<UserQueryResult>;

  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface RecordsBatch {
  readonly columns: readonly string[];
  readonly lines: readonly Uint8Array[];
  /** `records:<log_id>:<partition>:<from>-<to>:<version>` */
  readonly token: string;
}

export interface UserQueryResult {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

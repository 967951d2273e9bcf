/** A disk to which this process writes. */
export interface DiskView {
  readonly name: string;
  readonly freeBytes: number;
  readonly totalBytes: number;
  /**
   * While less than this is free on the disk `clickhouse`, the embedded ClickHouse refuses inserts. On any other disk, Weir
   * then accepts no records.
   */
  readonly reserveBytes: number;
}

/** Compares the settings of an engine with those that exactly-once processing needs. */
export interface EngineView {
  readonly engine: string;
  /** The time of the last check that the engine answered, in Unix milliseconds. Undefined if there was none. */
  readonly checkedAt: number | undefined;
  /** One line for each setting that differs. */
  readonly drift: readonly string[];
}

/** The disks, the engines and the export of Parquet files of the process with the role control. */
export interface Installation {
  disks(): Promise<readonly DiskView[]>;
  engines(): readonly EngineView[];
  /** Why the export of Parquet files fails or waits. Undefined if it does neither, or if another process exports. */
  parquetProblem(): string | undefined;
}

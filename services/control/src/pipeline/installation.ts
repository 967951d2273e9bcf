/** A disk to which this process writes. */
export interface DiskView {
  readonly name: string;
  readonly freeBytes: number;
  readonly totalBytes: number;
  /** Weir stops accepting records while less than this is free. */
  readonly reserveBytes: number;
}

/** The settings of an engine, compared with what exactly-once needs. */
export interface EngineView {
  readonly engine: string;
  /** Unix milliseconds of the last check that the engine answered. Undefined before it. */
  readonly checkedAt: number | undefined;
  /** One line for each setting that differs. */
  readonly drift: readonly string[];
}

/** What the host process knows of itself. */
export interface Installation {
  disks(): Promise<readonly DiskView[]>;
  engines(): readonly EngineView[];
}

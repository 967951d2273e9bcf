/** The disk of the data folder. */
export interface DiskSpace {
  /**
   * One sentence that says why nothing may be written to the disk now; `undefined` while there is enough free space. Returns the
   * result of the last check, without I/O: call it as often as needed.
   */
  shortage(): string | undefined;
  /** Resolves with the bytes that are free above the reserve. Negative during a shortage. Absent in an object that only knows `shortage`. */
  room?(): Promise<number>;
}

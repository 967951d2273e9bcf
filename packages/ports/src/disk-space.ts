/** The disk of the data folder. */
export interface DiskSpace {
  /**
   * Returns one sentence that says why no data may be written to the disk now; `undefined` if there is enough free space. This is the result of
   * the last check. The call does no I/O, so make it as often as needed.
   */
  shortage(): string | undefined;
  /**
   * Resolves with the free bytes above the reserve (the space that must stay free). The number is negative during a shortage. Objects that
   * implement only `shortage` do not have this method.
   */
  room?(): Promise<number>;
}

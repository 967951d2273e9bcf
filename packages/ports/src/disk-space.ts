/** The disk of the data folder. */
export interface DiskSpace {
  /**
   * Why nothing may be added to the disk now, in one sentence; `undefined` while there is enough free space. Returns the result of
   * the last check, without I/O: call it as often as needed.
   */
  shortage(): string | undefined;
}

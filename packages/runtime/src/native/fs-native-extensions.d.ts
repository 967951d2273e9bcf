/** The npm package fs-native-extensions contains no type declarations. */
declare module 'fs-native-extensions' {
  /** Takes an exclusive lock on the whole file for this file descriptor. Returns `false` if another descriptor holds the lock. */
  export function tryLock(fd: number): boolean;
}

/** The npm package fs-native-extensions contains no type declarations. */
declare module 'fs-native-extensions' {
  /** Takes an exclusive lock of the whole file, bound to this file descriptor; `false` if another descriptor holds it. */
  export function tryLock(fd: number): boolean;
}

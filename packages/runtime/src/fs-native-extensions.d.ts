/** The package brings no types. */
declare module 'fs-native-extensions' {
  /** An exclusive lock of the whole file, bound to this open file; `false` when another open file has it. */
  export function tryLock(fd: number): boolean;
}

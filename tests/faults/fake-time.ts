import { spawnSync } from 'node:child_process';

/** The path of the shared library of libfaketime, for `LD_PRELOAD`. Undefined if libfaketime is not installed. */
function findFaketime(): string | undefined {
  const { stdout } = spawnSync('dpkg', ['-L', 'libfaketime'], { encoding: 'utf8' });
  return stdout?.split('\n').find((file) => file.endsWith('libfaketimeMT.so.1'));
}

/** Why this machine cannot change the clock of a process; `undefined` if it can. */
export function whyNoFakeTime(): string | undefined {
  return findFaketime() === undefined ? 'libfaketime is missing: apt-get install libfaketime' : undefined;
}

/**
 * The environment of a Weir whose system clock libfaketime changes. Timers and the monotonic clock do not change. The clock of its ClickHouse
 * process does not change either, because ClickHouse reads the time by a system call, without the C library.
 */
export function fakeTimeEnv(): Record<string, string> {
  return { LD_PRELOAD: findFaketime() ?? '', FAKETIME_DONT_FAKE_MONOTONIC: '1', DONT_FAKE_MONOTONIC: '1' };
}

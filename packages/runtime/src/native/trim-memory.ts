import { promisify } from 'node:util';

/** The function of glibc. It returns 1 if it has returned memory, otherwise 0. `keepBytes`: the free memory to keep at the end of the heap. */
const MALLOC_TRIM = 'int malloc_trim(size_t keepBytes)';

type Trim = () => Promise<number>;
let opened: Promise<Trim | undefined> | undefined;

/**
 * Returns to the operating system the memory that native code of this process has freed, but that the C library keeps. Without this call, the C
 * library returns only the end of its heap. The call runs in the thread pool of libuv, and works for all threads of the process. It does nothing if
 * the C library has no `malloc_trim` (on macOS and Windows, and with musl), or if koffi has no binary for the system.
 */
export async function trimMemory(): Promise<void> {
  opened ??= openTrim();
  const trim = await opened;
  await trim?.();
}

async function openTrim(): Promise<Trim | undefined> {
  if (process.platform !== 'linux') return undefined;
  try {
    // A native module, loaded only when a process is idle for the first time.
    const { default: koffi } = await import('koffi');
    const trim = promisify<number, number>(koffi.load(null).func(MALLOC_TRIM).async);
    return () => trim(0);
  } catch {
    // koffi has no binary for this system, or the C library has no such function. Both throw without a code. Weir then only keeps more memory.
    return undefined;
  }
}

import type { DiskSpace } from '@weir/ports/disk-space';

const CHECK_MS = 250;

/** The shortage of disk space, for threads and processes that have no `DiskSpace` of their own. */
export interface ShortageWatch {
  /** The reason why nothing may be written to the disk now. Undefined if there is enough free space. */
  current(): string | undefined;
  end(): void;
}

/** Calls `tell` each time the shortage has changed, but not before this function has returned. */
export function watchShortage(
  disk: DiskSpace | undefined,
  tell: (shortage: string | undefined) => void,
): ShortageWatch {
  let shortage = disk?.shortage();
  const timer = setInterval(() => {
    if (disk?.shortage() === shortage) return;
    shortage = disk?.shortage();
    tell(shortage);
  }, CHECK_MS).unref();
  return { current: () => shortage, end: () => clearInterval(timer) };
}

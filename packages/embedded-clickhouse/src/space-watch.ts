import { statfs } from 'node:fs/promises';
import { clickhouseError } from './clickhouse-error.ts';

export interface SpaceWatchOptions {
  readonly folder: string;
  /** Inserts are refused and merges are stopped while less space is free. */
  readonly reserveBytes: number;
  /** Runs `SYSTEM START MERGES` (true) or `SYSTEM STOP MERGES` (false). */
  readonly setMerges: (run: boolean) => Promise<void>;
  /** Called when parts that were just written may be damaged. */
  readonly onDoubt: (reason: string) => void;
}

export interface SpaceWatch {
  /** Runs an insert. Rejects with NOT_ENOUGH_SPACE if the disk is short of space before it, or may have been full during it. */
  insert<T>(run: () => Promise<T>): Promise<T>;
  close(): void;
}

const IDLE_MS = 100;
const INSERTING_MS = 25;
const RESUME_FACTOR = 1.1;
/** If less than this share of the reserve is free, the disk may have been full between two checks. */
const CRITICAL_PART = 1 / 4;

/**
 * The engine (ClickHouse 26.7) ignores errors of writes to a full disk: it acknowledges an insert, or completes a merge, whose part
 * has empty files. So inserts and merges are stopped while less than the reserve is free. If the free space falls below a quarter of
 * the reserve while the engine can write, `onDoubt` is called, which must make the engine open its folder again. This removes damaged
 * parts, restores the parts that they were merged from, and removes the tokens of lost inserts (docs/decisions/0019).
 */
export async function watchSpace(options: SpaceWatchOptions): Promise<SpaceWatch> {
  const { folder, reserveBytes, setMerges, onDoubt } = options;
  const critical = reserveBytes * CRITICAL_PART;
  let inserts = 0;
  /** Whether merges run: the last value that `setMerges` has set. */
  let merging = true;
  let setting: Promise<void> | undefined;
  let isLow = false;
  let wasCritical = false;
  let inDoubt = false;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  async function look(): Promise<void> {
    const exposed = inserts > 0 || merging;
    const { bavail, bsize } = await statfs(folder);
    const free = bavail * bsize;
    isLow = free < (isLow ? reserveBytes * RESUME_FACTOR : reserveBytes);
    if (free < critical && !wasCritical && exposed && !inDoubt) {
      inDoubt = true;
      onDoubt(`the disk of ${folder} may have been full while parts were written: reopening it`);
    }
    wasCritical = free < critical;
    if (isLow === merging) {
      setting ??= setAsNeeded().finally(() => {
        setting = undefined;
      });
      await setting;
    }
  }

  /** Only one call runs at a time. Another check can change `isLow` while `setMerges` runs, so the loop compares it again. */
  async function setAsNeeded(): Promise<void> {
    while (isLow === merging) {
      const run = !isLow;
      await setMerges(run);
      merging = run;
    }
  }

  async function lookOn(): Promise<void> {
    await look().catch((error: unknown) => process.stderr.write(`cannot check the free space: ${String(error)}\n`));
    if (!closed) timer = setTimeout(lookOn, inserts > 0 ? INSERTING_MS : IDLE_MS);
  }

  // If the disk is already full at the opening, this is no reason to call `onDoubt`: ClickHouse reserves the space of a merge before it
  // starts the merge, so the full disk has not damaged a part.
  const { bavail, bsize } = await statfs(folder);
  wasCritical = bavail * bsize < critical;
  await lookOn();

  const assertRoom = (when: string): void => {
    if (!isLow && !inDoubt) return;
    const text = `Less than ${reserveBytes} bytes are free on the disk of the embedded ClickHouse ${when}`;
    throw clickhouseError(243, 'NOT_ENOUGH_SPACE', text);
  };

  return {
    async insert(run) {
      inserts += 1;
      try {
        await look();
        assertRoom('before the insert');
        const result = await run();
        await look();
        if (inDoubt) assertRoom('during the insert');
        return result;
      } finally {
        inserts -= 1;
      }
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}

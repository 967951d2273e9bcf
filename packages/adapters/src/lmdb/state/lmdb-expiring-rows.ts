import { DependencyError, isDependencyError } from '@weir/domain/errors';
import type { Database } from 'lmdb';
import { submitWrite, type WriteQueue } from '../lmdb-write-queue.ts';

/** Rows with the time at which they expire: `<Unix milliseconds> <text>`. */
export type ExpiringRows = Database<string, string>;

export function encodeRow(expiresAt: number, text: string): string {
  return `${expiresAt} ${text}`;
}

function rowExpiresAt(row: string): number {
  return Number(row.slice(0, row.indexOf(' ')));
}

export function rowText(row: string): string {
  return row.slice(row.indexOf(' ') + 1);
}

/** Reads a row. Throws `state_store_unavailable` if LMDB cannot read, for example after a failed write of its meta page. */
export function readRow<Value>(rows: Database<Value, string>, key: string): Value | undefined {
  try {
    return rows.get(key);
  } catch (error) {
    throw new DependencyError('state_store_unavailable', `cannot read the state store: ${error}`, { cause: error });
  }
}

/** Returns the text of a row; `undefined` if the row is absent or expired. */
export function liveText(rows: ExpiringRows, key: string, now: number): string | undefined {
  const row = readRow(rows, key);
  return row === undefined || rowExpiresAt(row) <= now ? undefined : rowText(row);
}

/** Removes the rows with these keys from each of the tables. Resolves when they are removed. */
export async function removeRows(
  keys: readonly string[],
  tables: readonly ExpiringRows[],
  writes: WriteQueue,
): Promise<void> {
  const stage = (): void => {
    for (const rows of tables) for (const key of keys) void rows.remove(key);
  };
  const size = { keys: keys.length * tables.length, bytes: 0 };
  await submitWrite(writes, 'state_store_unavailable', stage, { size });
}

const SWEEP_EVERY_MS = 1_000;
const SWEEP_ROWS_MAX = 500;
/** The maximum number of rounds in a sweep. After a round, the next one follows at once if more than a tenth of the scanned rows had expired. */
const SWEEP_ROUNDS_MAX = 20;

export interface Sweep {
  stop(): void;
}

export interface SweptTable {
  readonly rows: ExpiringRows;
  /**
   * Resolves with a time. A row that expires after this time is kept, even if it has expired by now. If the promise rejects, the sweep removes
   * nothing.
   */
  readonly keptAfter?: () => Promise<number>;
}

/** Removes expired rows. Each round scans the next `SWEEP_ROWS_MAX` rows of each table, in one transaction. After the last row, it starts again. */
export function startSweep(swept: readonly SweptTable[], writes: WriteQueue, clock: () => number): Sweep {
  const tables = swept.map(({ rows }) => rows);
  const positions = tables.map(() => '');
  let stopped = false;
  let underWay = false;

  async function sweep(): Promise<void> {
    underWay = true;
    try {
      const keptAfter = await Promise.all(swept.map((table) => table.keptAfter?.() ?? Number.POSITIVE_INFINITY));
      if (!stopped) round(SWEEP_ROUNDS_MAX, keptAfter);
    } catch (error) {
      if (!isDependencyError(error)) throw error;
      underWay = false;
    }
  }

  function round(left: number, keptAfter: readonly number[]): void {
    let seen = 0;
    let removed = 0;
    underWay = true;
    writes.submit(
      {
        size: () => ({ keys: tables.length * SWEEP_ROWS_MAX, bytes: 0 }),
        stage() {
          if (stopped) return;
          tables.forEach((rows, i) => {
            const now = Math.min(clock(), keptAfter[i] as number);
            let last: string | undefined;
            let count = 0;
            for (const { key, value } of rows.getRange({ start: positions[i] as string, limit: SWEEP_ROWS_MAX })) {
              last = key;
              count += 1;
              if (rowExpiresAt(value) > now) continue;
              removed += 1;
              void rows.remove(key);
            }
            seen += count;
            positions[i] = last === undefined || count < SWEEP_ROWS_MAX ? '' : last;
          });
        },
        settle() {
          underWay = false;
          if (removed * 10 > seen && left > 1) round(left - 1, keptAfter);
        },
      },
      'ahead',
    );
  }

  const timer = setInterval(() => {
    if (!underWay) void sweep();
  }, SWEEP_EVERY_MS).unref();
  return {
    stop() {
      stopped = true;
      clearInterval(timer);
    },
  };
}

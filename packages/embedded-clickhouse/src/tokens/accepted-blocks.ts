import { readFileSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath } from './sync-path.ts';
import type { LogPosition } from './token-log.ts';

/** The parts and tokens of one table that were durable when the file accepted-blocks.json was last written. */
export interface AcceptedTable {
  /** All parts with block numbers up to this one were on the disk. The repair at the next start leaves them in the table. */
  readonly blocks: number;
  /** In the deduplication logs, each token of a higher block number is at this position or after it. */
  readonly tokensFrom: LogPosition;
}

/** The durable parts and tokens of each table, by the UUID of the table. */
export type AcceptedBlocks = ReadonlyMap<string, AcceptedTable>;

const VERSION = 1;
const FILE = 'accepted-blocks.json';
/** The engine writes this file when it opens its folder. Its content is different after each opening: the process ID and the time. */
const STATUS = 'status';

interface Stored {
  readonly version: number;
  readonly status: string;
  readonly tables: Readonly<Record<string, readonly [blocks: number, log: number, bytes: number]>>;
}

/**
 * Reads the file accepted-blocks.json. Returns undefined if there is none, if it cannot be read, or if the engine was opened after the file was
 * last written. In the last case, an older version of Weir can have changed the tables, so that nothing is known about their parts.
 */
export function readAcceptedBlocks(folder: string): AcceptedBlocks | undefined {
  const text = readText(join(folder, FILE));
  const status = readText(join(folder, STATUS));
  if (text === undefined || status === undefined) return undefined;
  let stored: Stored;
  try {
    stored = JSON.parse(text) as Stored;
  } catch {
    return undefined;
  }
  if (stored.version !== VERSION || stored.status !== status) return undefined;
  return new Map(
    Object.entries(stored.tables).map(([uuid, [blocks, log, bytes]]) => [uuid, { blocks, tokensFrom: { log, bytes } }]),
  );
}

/** Replaces the file accepted-blocks.json durably. The engine must be open. */
export async function writeAcceptedBlocks(folder: string, accepted: AcceptedBlocks): Promise<void> {
  const tables = Object.fromEntries(
    [...accepted].map(
      ([
        uuid,
        {
          blocks,
          tokensFrom: { log, bytes },
        },
      ]) => [uuid, [blocks, log, bytes] as const],
    ),
  );
  const status = await readFile(join(folder, STATUS), 'utf8');
  const stored: Stored = { version: VERSION, status, tables };
  const file = join(folder, FILE);
  await writeFile(`${file}.new`, JSON.stringify(stored), { mode: 0o600, flush: true });
  await rename(`${file}.new`, file);
  await syncPath(folder);
}

/** Removes the file accepted-blocks.json durably. The repair at the next start then leaves all parts in their tables. */
export async function removeAcceptedBlocks(folder: string): Promise<void> {
  await rm(join(folder, FILE), { force: true });
  await syncPath(folder);
}

/** Makes the file `status` of the engine durable. `readAcceptedBlocks` compares it with the copy in accepted-blocks.json. */
export function syncStatus(folder: string): Promise<void> {
  return syncPath(join(folder, STATUS));
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

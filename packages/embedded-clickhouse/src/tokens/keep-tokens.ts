import { existsSync, statSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { StatementEffect } from '../statement-effect.ts';
import {
  type AcceptedBlocks,
  type AcceptedTable,
  removeAcceptedBlocks,
  syncStatus,
  writeAcceptedBlocks,
} from './accepted-blocks.ts';
import { syncPath } from './sync-path.ts';
import { partsOf, type TableFolder, tableFolders } from './table-folders.ts';
import { BEGINNING, endOfLogs, type LogPosition, logFile, logNumbers, readTokens } from './token-log.ts';

/**
 * Makes statements durable before they are answered. ClickHouse syncs the parts of an insert, but not their tokens. So after a loss of power, a
 * part without a token could belong to an acknowledged insert or to one that will be repeated. With this object, a repair can distinguish the
 * two: tokens of acknowledged inserts are on the disk, and parts of all other acknowledged statements have block numbers up to the one in the
 * file accepted-blocks.json (docs/decisions/0048).
 */
export interface TokenKeeper {
  /** Runs a statement. Resolves when the statement is done, and what a repair needs to know about it is durable. */
  run<T>(effect: StatementEffect, statement: () => Promise<T>): Promise<T>;
  /** Records the parts that are on the disk now. A later repair leaves these parts in their tables. */
  accept(): Promise<void>;
  /** Must be called when the engine has been closed. The repair at the next start then leaves all parts in their tables. */
  close(): Promise<void>;
}

/** How much of the deduplication logs of a table is synced: the newest log with synced bytes, and the number of these bytes. */
interface SyncedLog {
  readonly table: TableFolder;
  log: number;
  bytes: number;
}

/**
 * Creates the keeper for all tables of the folder. The engine must be open, and no statement may run. The keeper calls `onFailure` if it cannot
 * make tokens durable: then the process must end, because a second sync would succeed without having written the tokens.
 */
export async function keepTokens(folder: string, onFailure: (reason: string) => void): Promise<TokenKeeper> {
  const logs = new Map<string, SyncedLog>();
  let accepted: AcceptedBlocks | undefined;
  let changing = 0;
  /**
   * `definitions`: how many statements that define tables have ended. `recordedDefinitions`: this number when the last finished run of
   * `acceptNow` began. If they differ, the file accepted-blocks.json may lack new tables, so an insert with a token first waits for another run.
   */
  let definitions = 0;
  let recordedDefinitions = 0;
  let accepting: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;

  function findTables(): void {
    const found = tableFolders(folder);
    const uuids = new Set(found.map(({ uuid }) => uuid));
    for (const uuid of logs.keys()) if (!uuids.has(uuid)) logs.delete(uuid);
    for (const table of found) {
      if (!logs.has(table.uuid)) logs.set(table.uuid, { table, log: (logNumbers(table)[0] ?? 1) - 1, bytes: 0 });
    }
  }

  /** Makes two things durable: the tokens that were written so far, and the names of their parts. */
  async function syncTokens(): Promise<void> {
    await Promise.all([...logs.values()].map(syncLog));
  }

  async function syncLog(synced: SyncedLog): Promise<void> {
    const { table } = synced;
    const isRotated = existsSync(logFile(table, synced.log + 1));
    const size = sizeOf(table, synced.log);
    if (!isRotated && (size === undefined || size === synced.bytes)) return;
    const numbers = isRotated ? logNumbers(table).filter((log) => log >= synced.log) : [synced.log];
    const log = numbers.at(-1) ?? synced.log;
    const bytes = sizeOf(table, log) ?? 0;
    const files = numbers.map((number) => logFile(table, number));
    await Promise.all([...files, table.path, ...(isRotated ? [table.logs] : [])].map(syncPath));
    // Another call can have synced more in the meantime. Then its values stay.
    if (log > synced.log || (log === synced.log && bytes > synced.bytes)) Object.assign(synced, { log, bytes });
  }

  async function acceptNow(): Promise<void> {
    const found = definitions;
    findTables();
    const now = new Map<string, AcceptedTable>();
    const raised: TableFolder[] = [];
    for (const { table } of logs.values()) {
      const former = accepted?.get(table.uuid);
      // An insert writes its token and then renames its part, and holds a lock of the table meanwhile. So all inserts up to `blocks` have written
      // their tokens and renamed their parts.
      const blocks = highestBlock(table, former?.blocks ?? 0);
      now.set(table.uuid, {
        blocks,
        tokensFrom: accepted === undefined ? endOfLogs(table) : tokensAbove(table, blocks, former),
      });
      if (blocks !== former?.blocks) raised.push(table);
    }
    await Promise.all([syncTokens(), ...raised.map(({ path }) => syncPath(path))]);
    if (accepted === undefined || !isDeepStrictEqual(now, accepted)) await record(now);
    recordedDefinitions = found;
  }

  async function record(now: AcceptedBlocks): Promise<void> {
    accepted = now;
    try {
      await writeAcceptedBlocks(folder, now);
    } catch (error) {
      // The disk may be full. Without the file accepted-blocks.json, the next start detaches no part.
      process.stderr.write(`cannot write the accepted blocks: ${String(error)}\n`);
      await removeAcceptedBlocks(folder);
    }
  }

  async function guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      onFailure(`cannot make the deduplication tokens durable: ${String(error)}`);
      throw error;
    }
  }

  /** Runs `acceptNow` after its present run has ended. All calls of `acceptSoon` that are made until then share the new run. */
  function acceptSoon(): Promise<void> {
    next ??= accepting.then(() => {
      next = undefined;
      const run = guarded(acceptNow);
      accepting = run.catch(() => undefined);
      return run;
    });
    return next;
  }

  await syncStatus(folder);
  await acceptSoon();

  return {
    async run(effect, statement) {
      if (effect === 'reads') return statement();
      if (effect === 'inserts once') {
        if (recordedDefinitions < definitions) await acceptSoon();
        const result = await statement();
        // Another statement may have created tables in the meantime. The tokens of these tables must be synced too.
        if (changing > 0 || recordedDefinitions < definitions) findTables();
        await guarded(syncTokens);
        return result;
      }
      changing++;
      try {
        const result = await statement();
        if (effect === 'changes') await acceptSoon();
        return result;
      } finally {
        changing--;
        if (effect === 'defines') definitions++;
      }
    },
    accept: acceptSoon,
    close: () => removeAcceptedBlocks(folder),
  };
}

function highestBlock(table: TableFolder, former: number): number {
  return partsOf(table).reduce((highest, { last }) => Math.max(highest, last), former);
}

/** Returns a position in the logs. All tokens of block numbers above `blocks` are at or after this position. */
function tokensAbove(table: TableFolder, blocks: number, former: AcceptedTable | undefined): LogPosition {
  const { entries, end } = readTokens(table, former?.tokensFrom ?? BEGINNING);
  return entries.find(({ isAdded, part }) => isAdded && part.last > blocks)?.at ?? end;
}

function sizeOf(table: TableFolder, log: number): number | undefined {
  return statSync(logFile(table, log), { throwIfNoEntry: false })?.size;
}

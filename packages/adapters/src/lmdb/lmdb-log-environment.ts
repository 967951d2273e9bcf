import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DependencyError } from '@weir/domain/errors';
import type { Commit } from '@weir/ports/event-log';
import { open, type RootDatabase } from 'lmdb';
import { allocateFiles } from './lmdb-allocate-files.ts';
import { isCutShort } from './lmdb-file-space.ts';
import type { Ends, Entries } from './lmdb-partition-reads.ts';

/**
 * Opens the environment of the log. Rejects with `event_log_unavailable` if LMDB cannot open it, and with `event_log_damaged` if the end of the
 * file is missing. Without this check, `openFileSpace` (lmdb-file-space.ts) would write zeros where the missing pages were.
 */
export async function openLogEnvironment(folder: string): Promise<RootDatabase> {
  const env = await openFiles(folder);
  const data = join(folder, 'data.mdb');
  if (!isCutShort(data, env)) return env;
  await env.close();
  throw new DependencyError('event_log_damaged', `the end of ${data} is missing: restore a backup`);
}

/** Opens the files without any check. */
export function openLmdb(folder: string): RootDatabase {
  // overlappingSync: false makes a commit durable before it is visible and before its promise resolves.
  // eventTurnBatching: false: if a transaction fails, only the promise of lmdb's `batch` rejects. The write queue (lmdb-write-queue.ts)
  // awaits this promise. Nothing awaits the promises of `put` and `remove`.
  return open({ path: folder, overlappingSync: false, eventTurnBatching: false, maxDbs: 8 });
}

/** Opens the tables of the log that another thread can read too (lmdb-thread-log.ts). */
export function openLogTables(env: RootDatabase) {
  const entries: Entries = env.openDB({ name: 'entries', encoding: 'binary' });
  const ends: Ends = env.openDB({ name: 'ends' });
  const commits = env.openDB<Commit, [group: string, topic: string, partition: number]>({ name: 'commits' });
  return { entries, ends, commits };
}

async function openFiles(folder: string): Promise<RootDatabase> {
  try {
    mkdirSync(folder, { recursive: true });
    await allocateFiles(folder);
    return openLmdb(folder);
  } catch (error) {
    throw new DependencyError('event_log_unavailable', `cannot open the event log in ${folder}: ${error}`, {
      cause: error,
    });
  }
}

import { text } from 'node:stream/consumers';
import { DependencyError } from '@weir/domain/errors';
import type { ObjectStore } from '@weir/ports/object-store';

export const SNAPSHOT_VERSION = 1;

/**
 * The list of all files of one backup, with their chunks. It is stored after all chunks, so a backup is complete if its snapshot exists.
 */
export interface Snapshot {
  readonly version: typeof SNAPSHOT_VERSION;
  /** The time of the backup, for example `20261122T103000Z`. IDs in alphabetical order are in the order of time. */
  readonly id: string;
  readonly createdAt: string;
  /** The ID of the event log. */
  readonly logId: string;
  readonly items: readonly SnapshotItem[];
}

/** A group of files of the data folder. The joined chunks contain the bytes of the files, one file after the other. */
export interface SnapshotItem {
  /** Relative to the data folder. */
  readonly folder: string;
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
  readonly chunks: readonly string[];
  /**
   * Only for a part of a ClickHouse table: the SHA-256 of the part's file of checksums. Parts never change, so a part that has the same
   * folder and key in the previous backup is not read again.
   */
  readonly key?: string;
}

const SNAPSHOTS = 'snapshots/';
const NAME = /^snapshots\/(\d{8}T\d{6}Z)\.json$/;

export function snapshotId(time: number): string {
  return new Date(time).toISOString().replace(/[-:]|\.\d+/g, '');
}

/** The time at which a backup was begun (Unix milliseconds), read from its ID. */
export function timeOfSnapshot(id: string): number {
  return Date.parse(id.replace(/^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

/** The IDs of all complete backups, oldest first. */
export async function listSnapshots(objects: ObjectStore): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { name } of objects.list(SNAPSHOTS)) {
    const id = NAME.exec(name)?.[1];
    if (id !== undefined) ids.push(id);
  }
  return ids;
}

/** Reads a snapshot. Throws `object_store_damaged` if there is no such backup, if it is damaged, or if a newer version of Weir wrote it. */
export async function readSnapshot(objects: ObjectStore, id: string): Promise<Snapshot> {
  const stream = await objects.get(`${SNAPSHOTS}${id}.json`);
  if (stream === undefined) {
    throw new DependencyError('object_store_damaged', `there is no backup ${id}: weir backup list prints all backups`);
  }
  const content = await text(stream);
  let snapshot: Snapshot;
  try {
    snapshot = JSON.parse(content) as Snapshot;
  } catch (cause) {
    throw new DependencyError('object_store_damaged', `the list of files of the backup ${id} is damaged`, { cause });
  }
  if (snapshot.version === SNAPSHOT_VERSION) return snapshot;
  throw new DependencyError(
    'object_store_damaged',
    `the backup ${id} has version ${snapshot.version}, not ${SNAPSHOT_VERSION}`,
  );
}

export async function writeSnapshot(objects: ObjectStore, snapshot: Snapshot): Promise<void> {
  await objects.put(`${SNAPSHOTS}${snapshot.id}.json`, Buffer.from(JSON.stringify(snapshot)));
}

export async function deleteSnapshot(objects: ObjectStore, id: string): Promise<void> {
  await objects.delete(`${SNAPSHOTS}${id}.json`);
}

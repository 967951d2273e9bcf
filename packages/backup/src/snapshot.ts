import { json } from 'node:stream/consumers';
import { DependencyError } from '@weir/domain/errors';
import type { ObjectStore } from '@weir/ports/object-store';

export const SNAPSHOT_VERSION = 1;

/** One backup: what the data folder held at one moment. It is written last, so a backup exists as a whole or not at all. */
export interface Snapshot {
  readonly version: typeof SNAPSHOT_VERSION;
  /** `20261122T103000Z`: sorts by time. */
  readonly id: string;
  readonly createdAt: string;
  /** The ID of the event log. */
  readonly logId: string;
  readonly items: readonly SnapshotItem[];
}

/** Files of the data folder whose bytes stand one after another in the chunks. */
export interface SnapshotItem {
  /** Relative to the data folder. */
  readonly folder: string;
  readonly files: readonly { readonly name: string; readonly bytes: number }[];
  readonly chunks: readonly string[];
  /**
   * Of a part of a ClickHouse table: the SHA-256 of its file of checksums. Parts never change, so a part with the same folder and key
   * as in the backup before is not read again.
   */
  readonly key?: string;
}

const SNAPSHOTS = 'snapshots/';
const NAME = /^snapshots\/(\d{8}T\d{6}Z)\.json$/;

export function snapshotId(time: number): string {
  return new Date(time).toISOString().replace(/[-:]|\.\d+/g, '');
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

/** Throws `object_store_damaged` if there is no such backup, or a newer version of Weir wrote it. */
export async function readSnapshot(objects: ObjectStore, id: string): Promise<Snapshot> {
  const stream = await objects.get(`${SNAPSHOTS}${id}.json`);
  if (stream === undefined) throw new DependencyError('object_store_damaged', `there is no backup ${id}`);
  const snapshot = (await json(stream)) as Snapshot;
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

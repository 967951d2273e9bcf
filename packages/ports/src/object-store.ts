import type { Readable } from 'node:stream';

/**
 * A store of objects that are always written as a whole: a directory, or a prefix of an S3 bucket (`packages/adapters/src/object-store/`).
 * Both pass `packages/ports/contract/object-store.contract.ts`. Names consist of parts of `A-Z a-z 0-9 . _ = -`, separated by `/`.
 * Every method except `close` rejects with `object_store_unavailable` (a retry may succeed) or `object_store_refused` (credentials, bucket
 * or permissions must be changed first).
 */
export interface ObjectStore {
  /** Resolves when the object is stored durably. Readers see the whole object or no object. Replaces an object of the same name. */
  put(name: string, body: Uint8Array | Readable): Promise<void>;

  /**
   * Stores the object if there is no object of this name, in one step. Resolves with false if there is one, which stays unchanged. Limit: in a
   * folder without hard links, or an S3-compatible service without conditional writes, the call can replace an object that another process
   * stores at the same moment.
   */
  create(name: string, body: Uint8Array): Promise<boolean>;

  /** Resolves with the version of the object: a text that changes when other content is stored. Undefined if there is no such object. */
  version(name: string): Promise<string | undefined>;

  /**
   * Replaces the object if it still has this version, in one step. Resolves with false if the object was replaced or deleted since. Limit: in a
   * folder without file locks, or an S3-compatible service without conditional writes, the call can replace an object that another process
   * stores at the same moment.
   */
  replace(name: string, version: string, body: Uint8Array): Promise<boolean>;

  /**
   * Resolves with a stream of the content; undefined if there is no such object. A caller that does not read the whole stream
   * must destroy it.
   */
  get(name: string): Promise<Readable | undefined>;

  /** Lists all objects whose name starts with `prefix`, ordered by name (UTF-8 bytes). */
  list(prefix: string): AsyncIterable<StoredObject>;

  /** Resolves when the object does not exist any more, or never existed. */
  delete(name: string): Promise<void>;

  /**
   * Removes the leftovers of uploads that were interrupted before this time (Unix milliseconds). Resolves when they are removed. No reader sees
   * leftovers, but they need space and can contain erased records. In a bucket, a lifecycle rule removes them (docs/operations.md, "Archive"),
   * and this method does nothing.
   */
  removeLeftovers(before: number): Promise<void>;

  /** Closes the connections to the store. */
  close(): void;
}

export interface StoredObject {
  readonly name: string;
  readonly bytes: number;
  /** When the object was stored, in Unix milliseconds. If an operator has copied the objects to another place, this can be the time of the copy. */
  readonly storedAt: number;
}

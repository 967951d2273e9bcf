/**
 * Shared state that is a cache of the log: claims of idempotency keys, first-seen keys, and the enricher's sessions and links (terms:
 * docs/glossary.md).
 * If all of this state is lost, no record is lost or stored twice: the enricher computes the state from the raw records again.
 * Embedded: `packages/adapters/src/lmdb/state/lmdb-state-store.ts`. Distributed: `packages/adapters/src/redis/redis-state-store.ts`.
 * Every method except `close` rejects only with `state_store_unavailable`; the change of a rejected call may have been made.
 * A call with several items is one round trip for all of them; in a Redis cluster, one for each site.
 */
export interface StateStore {
  /**
   * Claims idempotency keys for running requests. Resolves with one outcome per key, in order:
   * - `claimed`: this owner now holds a pending claim, for at most `CLAIM_PENDING_MS`;
   * - `pending`: another owner holds a pending claim;
   * - `confirmed`: a record with this key was stored within `IDEMPOTENCY_WINDOW_MS`.
   * Atomic: if several owners claim a free key at once, exactly one of them gets `claimed`. A claim only chooses the
   * gateway's answer. A caller must not use it to decide which record is a duplicate.
   */
  claimKeys(keys: readonly KeyClaim[]): Promise<readonly ClaimOutcome[]>;
  /**
   * Call it when the records are durable. Resolves when the keys are confirmed, for `IDEMPOTENCY_WINDOW_MS`. Skips a key that is
   * claimed by another owner or already confirmed.
   */
  confirmKeys(keys: readonly KeyClaim[]): Promise<void>;
  /**
   * Call it when the append of the records was refused or has an unknown result. Resolves when the keys are free. Skips a key
   * unless `owner` holds the pending claim.
   */
  releaseKeys(keys: readonly KeyClaim[]): Promise<void>;

  /**
   * Resolves with the ID of the current epoch of the store's content, and with the partitions of a log that have checked in to it
   * (see `checkIn`). The store begins a new epoch when content may have been lost: it is empty, an older copy was restored, or
   * another server answers. Within one epoch, written content remains until its time to live ends.
   */
  readEpoch(logId: string, partitions: number): Promise<StateEpoch>;
  /**
   * Marks a partition as checked in to an epoch. The caller thereby states two facts: the store holds the first-seen key of every
   * record of this partition whose outcome is in the log, and the key of each later record will be inserted within this epoch
   * before the outcome of that record is appended. Resolves with `false`, without a change, if the epoch is over.
   */
  checkIn(epoch: string, partition: RawPartition): Promise<boolean>;
  /** Ends an epoch because content is missing; has no effect if it is already over. The next `readEpoch` begins another one. */
  endEpoch(epoch: string): Promise<void>;

  /**
   * Inserts each record as a first-seen record of its key, unless the key already has a first-seen record that was received less than
   * `windowMs` before or after this record. Resolves with one first-seen record for each given record, in order: the given record itself,
   * or the one that the key already had. A repeated call returns the same result, even if a later record of the key was inserted in the
   * meantime. Resolves with `undefined` if the epoch is over; some of the records may have been inserted.
   */
  insertFirstSeen(
    epoch: string,
    keys: readonly FirstSeenKey[],
    windowMs: number,
  ): Promise<readonly FirstSeenKey[] | undefined>;
  /**
   * Stores each record as the first-seen record of its key. Call it for records whose outcome is already in the log and is not a duplicate.
   * Replaces every first-seen record of the same key that was received less than `windowMs` before or after the new one. Resolves with
   * `false` if the epoch is over; some of the records may have been written.
   */
  overwriteFirstSeen(epoch: string, keys: readonly FirstSeenKey[], windowMs: number): Promise<boolean>;

  /**
   * Resolves with the values of the keys (`undefined` if absent or expired) and the raw offset (docs/glossary.md) up to which the partition's state
   * was applied. Each partition has its own keys. Does not check whether the epoch is over.
   */
  readState(epoch: string, partition: RawPartition, keys: readonly string[]): Promise<PartitionState>;
  /**
   * Applies the changes of the raw records in `range` and stores `range.to` as the applied offset, in one step. Does this only if the
   * stored offset is at least `range.from` (otherwise earlier records are missing) and lower than `range.to` (otherwise the
   * range was applied before). Resolves with the offset that is stored afterwards. If that offset is at least `range.to`, the
   * changes are in the store; if it is lower, they are not. Resolves with `undefined` if the epoch is over; a store that keeps
   * the state of each epoch separately need not check this.
   */
  writeState(
    epoch: string,
    partition: RawPartition,
    range: OffsetRange,
    changes: readonly StateChange[],
  ): Promise<number | undefined>;

  /** Removes keys from the state of a partition, also from that of former epochs. Resolves when they are removed. The applied offset stays. */
  removeState(epoch: string, partition: RawPartition, keys: readonly string[]): Promise<void>;
  /** Resolves when the idempotency keys of a site are free again: their confirmed claims and all of their first-seen records are gone. */
  removeKeys(siteId: string, keys: readonly string[]): Promise<void>;
  /** Does the same as `removeKeys` for all keys of the site. */
  removeSiteKeys(siteId: string): Promise<void>;

  /** Resolves when the store can be read and written. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

export interface KeyClaim {
  readonly siteId: string;
  /** The idempotency key as sent: `^[A-Za-z0-9_.:-]{1,128}$`. */
  readonly key: string;
  /** Event ID of the request. */
  readonly owner: string;
}

export type ClaimOutcome = 'claimed' | 'pending' | 'confirmed';

/** A record with an idempotency key that is, or could become, the first-seen record of this key. */
export interface FirstSeenKey {
  readonly siteId: string;
  readonly key: string;
  /** The record: `<first 8 characters of the log's ID>:<partition>:<raw offset>`. No spaces. */
  readonly recordId: string;
  /** The record's received_at, in Unix milliseconds. */
  readonly receivedAt: number;
}

export interface StateEpoch {
  /** A random text without spaces. */
  readonly id: string;
  /** The numbers of the partitions that have checked in. Contains only numbers below the argument `partitions` of `readEpoch`. */
  readonly checkedIn: ReadonlySet<number>;
}

export interface RawPartition {
  readonly logId: string;
  readonly partition: number;
}

/** The state that belongs to one raw partition. */
export interface PartitionState {
  /** The next raw offset to apply; 0 if none was applied. */
  readonly appliedTo: number;
  readonly values: readonly (string | undefined)[];
}

/** Raw offsets from `from` to `to` - 1. */
export interface OffsetRange {
  /** The `appliedTo` of the state from which the changes were computed. */
  readonly from: number;
  readonly to: number;
}

export interface StateChange {
  /** At most 512 characters; contains the site ID. */
  readonly key: string;
  /** `undefined` removes the key. */
  readonly value: string | undefined;
  readonly ttlMs: number;
}

/** The part of the state store that a gateway uses. */
export type ClaimStore = Pick<StateStore, 'claimKeys' | 'confirmKeys' | 'releaseKeys'>;

/** A claim that was neither confirmed nor released (because its gateway crashed) expires after this time. */
export const CLAIM_PENDING_MS = 15_000;
/**
 * For this time after the first record with an idempotency key, later records with the same key are duplicates. Confirmed claims and
 * first-seen keys use the same time.
 */
export const IDEMPOTENCY_WINDOW_MS = 24 * 3600_000;

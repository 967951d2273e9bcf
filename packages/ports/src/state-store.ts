/**
 * Shared state that is a cache of the log: claims of idempotency keys (which only choose the gateway's answer), first holders
 * of idempotency keys, and the enricher's sessions and links. Losing all of it loses nothing and doubles nothing.
 * Embedded: `adapters/lmdb-state-store.ts`. Distributed: `adapters/redis-state-store.ts`.
 * Every method rejects with `state_store_unavailable` and nothing else. Every method is batched: one round trip a call.
 */
export interface StateStore {
  /**
   * Claims keys for requests under way. In order, per key:
   * - `claimed`: this caller has it, as pending, for `pendingMs` at most;
   * - `pending`: another request holds it and its outcome isn't known yet;
   * - `confirmed`: a record with it was stored within the window.
   * Atomic: of concurrent claims of a free key exactly one is `claimed`.
   */
  claimKeys(keys: readonly KeyClaim[]): Promise<readonly ClaimOutcome[]>;
  /** The records are durable: from now on, for 24 h, the keys answer `confirmed`. Only where `owner` still holds the claim or nobody does. */
  confirmKeys(keys: readonly KeyClaim[]): Promise<void>;
  /** The records were refused or their outcome is unknown: the keys are free at once. Only where `owner` holds the pending claim. */
  releaseKeys(keys: readonly KeyClaim[]): Promise<void>;

  /**
   * First come, first held. Makes each record the holder of its key unless one that was received less than `windowMs` before
   * or after it holds it; returns, per record, who holds the key for it: itself or that other one. Calling it again with the
   * same records gives the same answers, also after a later window has begun.
   */
  holdFirst(holders: readonly KeyHolder[], windowMs: number): Promise<readonly KeyHolder[]>;
  /** These records no longer hold their keys, where they did: they came to hold them in a store that had lost earlier ones. */
  dropHolders(holders: readonly KeyHolder[]): Promise<void>;

  /**
   * The values of keys (`undefined` where absent or expired), and up to which raw offset of this partition they were applied.
   * Each partition has keys of its own: the same key in another one is another value.
   */
  readFold(partition: FoldPartition, keys: readonly string[]): Promise<Fold>;
  /**
   * Applies changes of the run of raw records from `from` up to, not including, `to`, together with the offset `to`, where the
   * stored offset is in that range: `from` or higher, so that nothing before the run is passed over, and lower than `to`.
   * Elsewhere it does nothing. Resolves with the offset that is stored afterwards: `to` or higher, what was asked for is in
   * the store; lower, the store has lost what it had (failed over, wiped) and must be brought up to `from` again.
   */
  writeFold(partition: FoldPartition, run: FoldRun, changes: readonly FoldChange[]): Promise<number>;

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

export interface KeyHolder {
  readonly siteId: string;
  readonly key: string;
  /** The record, wherever it is: `<first 8 characters of the log's ID>:<partition>:<raw offset>`. No spaces. */
  readonly holder: string;
  /** Unix milliseconds of the record's own received_at. */
  readonly receivedAt: number;
}

export interface FoldPartition {
  readonly logId: string;
  readonly partition: number;
}

export interface Fold {
  /** The next raw offset to apply; 0 where nothing was applied yet. */
  readonly appliedTo: number;
  readonly values: readonly (string | undefined)[];
}

/** Raw offsets that changes are the outcome of. `to` is exclusive, and the next one to apply. */
export interface FoldRun {
  /** The `appliedTo` of the fold that the changes were made from. */
  readonly from: number;
  readonly to: number;
}

export interface FoldChange {
  /** At most 512 chars; holds the site. */
  readonly key: string;
  /** `undefined` removes. */
  readonly value: string | undefined;
  readonly ttlMs: number;
}

/** A claim that nobody confirmed or released (the gateway died) is free after this long. */
export const CLAIM_PENDING_MS = 15_000;
export const CLAIM_CONFIRMED_MS = 24 * 3600_000;

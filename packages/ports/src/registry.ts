import type { Tombstone } from '@weir/domain/erasure/tombstone';
import type { Replay, ReplayRequest, ReplayState, ReplayWish } from '@weir/domain/registry/replay';
import type { ApiKey, ExclusionRule, Site } from '@weir/domain/registry/site';

/**
 * Sites, hashes of API keys, exclusion rules, imports, erasures and daily salts. Every process holds all of it in memory, so reads do no
 * I/O. Changes go through a compacted topic. While the log is unavailable, reads return the last known state.
 * Implementation: `adapters/registry/log-registry.ts`.
 */
export interface Registry {
  site(siteId: string): Site | undefined;
  sites(): readonly Site[];
  /** `hash`: SHA-256 of the plain key in lower-case hex. */
  keyByHash(hash: string): ApiKey | undefined;
  keys(siteId: string): readonly ApiKey[];
  exclusions(siteId: string): readonly ExclusionRule[];
  import(siteId: string, fileDigest: string): ImportLedgerEntry | undefined;
  imports(siteId: string): readonly ImportLedgerEntry[];
  /** Of a site that exists or was removed; the same list until it changes. */
  tombstones(siteId: string): readonly Tombstone[];
  /** Whether any site has a tombstone. */
  hasTombstones(): boolean;
  erasure(erasureId: string): Erasure | undefined;
  /** All erasures, in the order of their requests. */
  erasures(): readonly Erasure[];

  /**
   * This and the following writes resolve when the change is durable and visible in this process; other processes see it
   * within a second. They reject with `event_log_unavailable`; the change may still become durable later.
   */
  putSite(site: Site): Promise<void>;
  /** Removes the site with its keys, rules and imports. After a rejection a part may be removed: call it again. */
  removeSite(siteId: string): Promise<void>;
  putKey(key: ApiKey): Promise<void>;
  removeKey(siteId: string, keyId: string): Promise<void>;
  putExclusion(rule: ExclusionRule): Promise<void>;
  removeExclusion(siteId: string, ruleId: string): Promise<void>;
  putImport(entry: ImportLedgerEntry): Promise<void>;
  /** A tombstone is never removed. */
  putTombstone(tombstone: Tombstone): Promise<void>;
  putErasure(erasure: Erasure): Promise<void>;
  /** Its tombstones stay. */
  removeErasure(erasureId: string): Promise<void>;

  /** The replay that was started first and not removed. A later one is only there until its starter has removed it. */
  replay(): Replay | undefined;
  putReplayRequest(request: ReplayRequest): Promise<void>;
  putReplayState(state: ReplayState): Promise<void>;
  putReplayWish(wish: ReplayWish): Promise<void>;
  removeReplay(replayId: string): Promise<void>;

  /**
   * Resolves with the salt (32 random bytes, hex) of a UTC day (`YYYY-MM-DD`); the first call for a day creates it. If several
   * processes create it at once, the first salt in the log wins and all processes return that one.
   */
  salt(day: string): Promise<string>;
  /** The salt of a day if it exists; does not create one. */
  existingSalt(day: string): string | undefined;
  /** Removes the salts of all days before `day`. */
  removeSaltsBefore(day: string): Promise<void>;

  /** Returns the last request to pause the writers, also if the pause is over. */
  writersPause(): WritersPause | undefined;
  putWritersPause(pause: WritersPause): Promise<void>;
  /** The listener is called after each change of the request. Returns a function that removes it. */
  onWritersPause(listener: () => void): () => void;

  /** The listener is called after each change of a replay. Returns how to stop that. */
  onReplayChange(listener: () => void): () => void;
  /** The listener is called after each change, with the site that changed. For caches that are derived from the registry. */
  onChange(listener: (siteId: string) => void): void;
  close(): Promise<void>;
}

/** A request that all writers pause, so that ClickHouse's tables can be exchanged (a swap). Only the last request is stored. */
export interface WritersPause {
  /** The number of the swap. Each swap has a higher number than all swaps before it. */
  readonly swap: number;
  /** True: the pause has ended, and the writers continue. */
  readonly over: boolean;
  /** Unix milliseconds. */
  readonly requestedAt: number;
}

/** The progress of the import of one file into one site. */
export interface ImportLedgerEntry {
  readonly siteId: string;
  /** SHA-256 of the file's uncompressed bytes, hex. */
  readonly fileDigest: string;
  readonly startedAt: number;
  /** Lines 1 to `linesDone` were processed: appended, skipped or reported. */
  readonly linesDone: number;
  /** Lines `linesDone` + 1 to `linesPending` were being appended when this was written. After a crash they may be in the log. */
  readonly linesPending: number;
  readonly hitsAppended: number;
  readonly finished: boolean;
}

/** An erasure, from its request to its receipt. It holds no IDs of persons: its set is in its tombstones. */
export interface Erasure {
  readonly siteId: string;
  readonly erasureId: string;
  /** Unix milliseconds: what was received later is not erased. */
  readonly at: number;
  readonly whole: boolean;
  /** How many visitors and users were asked for. */
  readonly visitors: number;
  readonly users: number;
  readonly phase: ErasurePhase;
  /** The raw offsets that must be stored before anything is deleted, by partition; undefined: not read yet. */
  readonly ends?: readonly number[];
  /** Rows that were removed, by table; in `records`, by outcome. */
  readonly removed: Readonly<Record<string, number>>;
  /** When the insert of the rows `erased` was begun, by database and month. */
  readonly begun: Readonly<Record<string, number>>;
  readonly finishedAt?: number;
  /** Why the last attempt stopped; the next one follows by itself. Empty: nothing. */
  readonly problem?: string;
  /** The process that works on it, and when it last said so. */
  readonly worker?: { readonly id: string; readonly at: number };
}

export type ErasurePhase = 'waiting' | 'resolving' | 'deleting' | 'done';

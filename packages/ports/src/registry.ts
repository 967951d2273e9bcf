import type { Tombstone } from '@weir/domain/erasure/tombstone';
import type { Goal } from '@weir/domain/registry/goal';
import type { KeepKind } from '@weir/domain/registry/keep';
import type { Replay, ReplayRequest, ReplayState, ReplayWish } from '@weir/domain/registry/replay';
import type { Annotation, Funnel, Segment } from '@weir/domain/registry/saved';
import type { ApiKey, ExclusionRule, Site } from '@weir/domain/registry/site';
import type { SessionSecret, SignedOut, TokenUse, Viewer } from '@weir/domain/registry/viewer';

/**
 * Sites and what belongs to them (such as hashes of API keys, rules, goals, viewers and imports), and other state that all processes share, such
 * as erasures, the replay, sign-outs and daily salts (docs/glossary.md). Every process holds all of it in memory, so reads do no I/O. Changes go
 * through two compacted topics. While the log is unavailable, reads return the last known state. Implementation:
 * `packages/adapters/src/registry/log-registry.ts`.
 */
export interface Registry {
  site(siteId: string): Site | undefined;
  sites(): readonly Site[];
  /** `hash`: SHA-256 of the plain key in lower-case hex. */
  keyByHash(hash: string): ApiKey | undefined;
  keys(siteId: string): readonly ApiKey[];
  exclusions(siteId: string): readonly ExclusionRule[];
  /** The goals of a site, in the order of their creation. */
  goals(siteId: string): readonly Goal[];
  viewer(viewerId: string): Viewer | undefined;
  /** `hash`: SHA-256 of the token in lower-case hex. */
  viewerByHash(hash: string): Viewer | undefined;
  /** The viewers of a site, in the order of their creation. */
  viewers(siteId: string): readonly Viewer[];
  segments(siteId: string): readonly Segment[];
  /** The saved funnels of a site, in the order of their creation. */
  funnels(siteId: string): readonly Funnel[];
  annotations(siteId: string): readonly Annotation[];
  /** The last use of an API key or of the token of a viewer, by its ID. Undefined: it was never used. */
  tokenUse(id: string): TokenUse | undefined;
  /** Undefined until the first sign-in. If several processes store a secret at the same time, the last one counts. */
  sessionSecret(): SessionSecret | undefined;
  /** The sessions that were signed out. */
  signedOut(): ReadonlyMap<string, SignedOut>;
  import(siteId: string, fileDigest: string): ImportLedgerEntry | undefined;
  imports(siteId: string): readonly ImportLedgerEntry[];
  /** The tombstones (docs/glossary.md) of a site, also of a removed site. Returns the same array as long as the list does not change. */
  tombstones(siteId: string): readonly Tombstone[];
  /** Whether any site has a tombstone. */
  hasTombstones(): boolean;
  /** The tombstones of all sites, by site and in the order in which they were stored. */
  allTombstones(): readonly Tombstone[];
  erasure(erasureId: string): Erasure | undefined;
  /** All erasures, sorted by their `at`. */
  erasures(): readonly Erasure[];

  /** The expiry (docs/glossary.md) that is in progress; undefined if there is none. */
  expiry(): Expiry | undefined;

  /**
   * This and the following writes resolve when the change is durable and visible in this process; other processes see it
   * within a second. They reject with `event_log_unavailable`; the change may still become durable later.
   */
  putSite(site: Site): Promise<void>;
  /** Removes the site with everything that belongs to it except tombstones and erasures. A rejected call can have removed a part: call it again. */
  removeSite(siteId: string): Promise<void>;
  putKey(key: ApiKey): Promise<void>;
  removeKey(siteId: string, keyId: string): Promise<void>;
  putExclusion(rule: ExclusionRule): Promise<void>;
  removeExclusion(siteId: string, ruleId: string): Promise<void>;
  putGoal(goal: Goal): Promise<void>;
  removeGoal(siteId: string, goalId: string): Promise<void>;
  putSegment(segment: Segment): Promise<void>;
  removeSegment(siteId: string, segmentId: string): Promise<void>;
  putFunnel(funnel: Funnel): Promise<void>;
  removeFunnel(siteId: string, funnelId: string): Promise<void>;
  putAnnotation(annotation: Annotation): Promise<void>;
  removeAnnotation(siteId: string, annotationId: string): Promise<void>;
  putViewer(viewer: Viewer): Promise<void>;
  /** Removes the viewer. Its token and its sessions are refused from now on. */
  removeViewer(siteId: string, viewerId: string): Promise<void>;
  putTokenUse(use: TokenUse): Promise<void>;
  putSessionSecret(secret: SessionSecret): Promise<void>;
  putSignedOut(session: SignedOut): Promise<void>;
  removeSignedOut(sessionId: string): Promise<void>;
  putImport(entry: ImportLedgerEntry): Promise<void>;
  /** Stores a tombstone. It is never removed. */
  putTombstone(tombstone: Tombstone): Promise<void>;
  putErasure(erasure: Erasure): Promise<void>;
  /** Removes an erasure from the list. Its tombstones stay. */
  removeErasure(erasureId: string): Promise<void>;

  putExpiry(expiry: Expiry): Promise<void>;
  removeExpiry(): Promise<void>;

  /**
   * The first of the replays that were started and not removed. If two processes start a replay at the same time, the process whose request
   * is second in the log removes its own request.
   */
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

  /** Returns the last request to pause the writers, also if the pause is over. Undefined if there was no request. */
  writersPause(): WritersPause | undefined;
  putWritersPause(pause: WritersPause): Promise<void>;
  /** The listener is called after each change of the request. Returns a function that removes it. */
  onWritersPause(listener: () => void): () => void;

  /** The listener is called after each change of a replay. Returns a function that removes it. */
  onReplayChange(listener: () => void): () => void;
  /** The listener is called after each change of a site, except token uses. For caches that are derived from the registry. */
  onChange(listener: (siteId: string) => void): void;
  /**
   * Call it after this process has read a record. Resolves when this process has applied all changes that the gateway knew when it appended
   * the record. Salts are an exception: their changes can be missing. Rejects with `event_log_unavailable`, and with `event_log_damaged` if
   * the registry has skipped a row that it cannot read.
   */
  catchUp(): Promise<void>;
  /**
   * Resolves when this process has applied all changes that were stored before the call, except rows that it cannot read: a change of such a row
   * repairs it. Salts are an exception, as for `catchUp`. Rejects with `event_log_unavailable`.
   */
  readToEnd(): Promise<void>;
  /** The time since this process last read both topics, in milliseconds. */
  unreadMs(): number;
  close(): Promise<void>;
}

/** What the writers pause for. */
export type PauseOwner = 'swap' | 'backup';

/** A request that all writers pause: for a swap of ClickHouse's tables, or for a backup of them. Only the last request is stored. */
export interface WritersPause {
  /** The number of the swap or backup. It is higher than the numbers of all requests before it. */
  readonly swap: number;
  /** A pause is continued and ended only by its owner. Absent if an older version of Weir has requested the pause. */
  readonly owner?: PauseOwner;
  /** True if the pause has ended. Then the writers continue. */
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
  /** Lines `linesDone` + 1 to `linesPending` were being appended when this entry was written. After a crash, they may be in the log. */
  readonly linesPending: number;
  readonly hitsAppended: number;
  readonly finished: boolean;
}

/** The progress and the receipt of an erasure. It contains no IDs of persons; their hashes are in the tombstones of the erasure. */
export interface Erasure {
  readonly siteId: string;
  readonly erasureId: string;
  /**
   * The time of the request in Unix milliseconds. Records that were received later are not erased. If the erasure also removes its site,
   * Weir replaces this time by the time from which on no gateway accepts records of the site. It does so before it sets `ends`.
   */
  readonly at: number;
  readonly whole: boolean;
  /**
   * If the erasure also removes its site, the `createdAt` of this site: a newer site with the same ID is not removed. The removal is complete
   * when `ends` is set.
   */
  readonly removesSite?: number;
  /** How many visitors the request names, and how many users. */
  readonly visitors: number;
  readonly users: number;
  readonly phase: ErasurePhase;
  /**
   * The end of each partition of `events.raw` at the time of the request. All records before these ends must be stored before rows are
   * deleted. Undefined until Weir has read the ends.
   */
  readonly ends?: readonly number[];
  /** How many rows were removed, by table, and for the table `records` by outcome. */
  readonly removed: Readonly<Record<string, number>>;
  /** For each database and month, the time of the first insert of rows with the outcome `erased`, in Unix milliseconds. */
  readonly begun: Readonly<Record<string, number>>;
  /** The offsets up to which the topics must be archived before the archive is erased, by topic and partition. */
  readonly archiveEnds?: Readonly<Record<string, readonly number[]>>;
  /** Undefined if no part of the archive was erased yet. */
  readonly archive?: ArchiveErasure;
  /**
   * When everything was erased. Weir then also writes the tombstones to the place of the scheduled backups, and repeats this until it
   * succeeds. Only after that, the phase becomes `done`.
   */
  readonly finishedAt?: number;
  /**
   * The folder `detached` can contain parts of tables with erased rows: after a loss of power, the embedded ClickHouse moves damaged parts to this
   * folder, and Weir moves the parts of unacknowledged inserts to it. `detachedUntil` is the time (Unix milliseconds) at which Weir will have removed
   * the last part that was in the folder at the end of the erasure. Undefined if there was none.
   */
  readonly detachedUntil?: number;
  /**
   * True if the tables were restored from a backup that is older than this erasure. Weir carries it out again before it serves
   * any request.
   */
  readonly restored?: boolean;
  /** Why the last attempt failed. Weir tries again without an operator. Absent or empty if no attempt has failed. */
  readonly problem?: string;
  /** The process that carries out the erasure, and the time of its last report. */
  readonly worker?: { readonly id: string; readonly at: number };
}

export type ErasurePhase = 'waiting' | 'resolving' | 'deleting' | 'archive' | 'done';

/** The progress of an erasure in the archive. */
export interface ArchiveErasure {
  /** The name of the last segment that is done. Empty if no segment is done yet. */
  readonly after: string;
  readonly segments: number;
  readonly rewritten: number;
  /** The number of records that were erased from segments, by topic. */
  readonly records: Readonly<Record<string, number>>;
  /** While the pass is in progress: the IDs of the other erasures that it also carries out, since its start. */
  readonly covers?: readonly string[];
  /** Undefined until all segments and Parquet files are erased. */
  readonly parquet?: ParquetErasure;
}

/**
 * How many Parquet files an erasure has stored again (`rewritten`), and how many still contain the erased records, because they could not be
 * made again from the tables (`left`).
 */
export interface ParquetErasure {
  readonly rewritten: number;
  readonly left: number;
}

/** A removal of old rows that is in progress: rows that are older than the limits of their sites. There is at most one at a time. */
export interface Expiry {
  readonly expiryId: string;
  /** The IDs of sites that keep their rows for the same time. The empty ID stands for records without a site. */
  readonly siteIds: readonly string[];
  /** The time (Unix milliseconds) before which rows of a kind have expired. Absent if no row of this kind expires. */
  readonly before: Partial<Readonly<Record<KeepKind, number>>>;
  readonly startedAt: number;
  /** `waiting`: nothing was changed yet. If an erasure, a replay or a backup was begun at the same time, the expiry is cancelled. */
  readonly phase: 'waiting' | 'deleting';
  /** For each partition, the raw offset at which the expiry ends (exclusive). Later records can expire in the next expiry. */
  readonly ends: readonly number[];
  /**
   * The chunk whose insert was begun last. After a kill, the next attempt needs it: the inserts of earlier chunks of the month are stored, but it is
   * not known whether this insert was stored.
   */
  readonly chunk?: ExpiryChunk;
  /** The process that carries out the expiry, and the time of its last report. */
  readonly worker?: { readonly id: string; readonly at: number };
}

/**
 * The expired records of one month whose raw offsets are in one range of one partition. One insert stores a row with the outcome `expired` for each
 * of them. After the inserts of all chunks of the month, the expired records themselves are deleted.
 */
export interface ExpiryChunk {
  /** The beginning of the chunk's deduplication token. It names the expiry, the database, and the kind of rows that expire. */
  readonly token: string;
  /** `toYYYYMM(received_at)` */
  readonly month: number;
  readonly logId: string;
  readonly partition: number;
  /** The number of the chunk within its partition: a raw offset of the chunk divided by the number of raw offsets per chunk, rounded down. */
  readonly nth: number;
  /** When the insert was begun, in Unix milliseconds. */
  readonly at: number;
}

import type { Keep } from './keep.ts';

/**
 * Where the records of a replay come from: the topic `events.enriched`, the archive, or the topic `events.raw`. `tables`: all records that
 * are stored when the replay begins are copied from the live tables.
 */
export type ReplaySource = 'enriched' | 'archive' | 'raw' | 'tables';

/** Which records a replay replaces. All other records are copied from the present tables. */
export interface ReplayScope {
  /** Unix milliseconds of received_at: from `sinceMs` up to, not including, `untilMs`. */
  readonly sinceMs?: number;
  readonly untilMs?: number;
  readonly siteId?: string;
}

/** The request that started a replay. It is stored once and never changes. */
export interface ReplayRequest extends ReplayScope {
  readonly replayId: string;
  readonly from: ReplaySource;
  /** The maximum number of records per second that the replay writes. Undefined if there is no such limit. */
  readonly recordsPerSecondMax?: number;
  readonly startedAt: number;
  /** True if Weir has started the replay for a migration that rebuilds tables. Weir then also begins the swap and the drop without a command. */
  readonly isAutomatic?: true;
  /**
   * How long rows are kept: the setting for all sites at the start of the replay. Absent if an older version of Weir started
   * the replay.
   */
  readonly keep?: Keep;
}

/**
 * A replay fills a second set of tables (the shadow tables) and can exchange them with the live tables. `create`: the shadow
 * tables are created. `archive`: rows of the archive are written. `copy`: rows that the replay does not replace are copied from
 * the live tables. `fill`: the records of the log are written. `follow`: the shadow tables have all records of the live tables,
 * and receive each new record soon after the live tables. `swap`: the tables are exchanged. `swapped`: the shadow database has
 * the former tables. `undone`: the tables were exchanged back. `drop`: the shadow tables and the replay are removed.
 */
export type ReplayPhase = 'create' | 'archive' | 'copy' | 'fill' | 'follow' | 'swap' | 'swapped' | 'undone' | 'drop';

/** Where the replay of one partition begins. */
export interface ReplayStart {
  /** The offset in the topic that the writer of the replay reads: `events.enriched`, or `events.replayed` if the replay is from raw. */
  readonly offset: number;
  /** The first raw offset (docs/glossary.md) that is replayed. */
  readonly rawOffset: number;
  /** Records from this raw offset on were stored after the start of the replay. All of them are replayed, also those outside of the scope. */
  readonly rawEnd: number;
}

/** Rows that one insert adds to the shadow table `records`: copies of rows of the live table or, if `isExpired`, new rows. */
export interface ReplayChunk {
  readonly logId: string;
  readonly partition: number;
  /** `toYYYYMM(received_at)`; 0 if `isExpired`. */
  readonly month: number;
  /** The number of the chunk within its partition: its first raw offset divided by the size of a chunk. */
  readonly nth: number;
  /** True if the rows are new, with the outcome `expired`, for records that have expired in the archive. Such chunks come after all others. */
  readonly isExpired?: true;
}

/** Raw offsets whose outcomes were read from the archive, both ends included. */
export interface ArchivedRange {
  readonly logId: string;
  readonly partition: number;
  readonly from: number;
  readonly to: number;
}

/** Raw records of an earlier log that have expired in the archive: all with a raw offset below `rawNext`. */
export interface ExpiredRecords {
  readonly logId: string;
  readonly partition: number;
  readonly rawNext: number;
  /** Unix milliseconds: when the last of these records was archived. */
  readonly storedAt: number;
}

/** The last commit of the writer while it fills the shadow tables from the archive. */
export interface ArchivePosition {
  readonly logId: string;
  readonly partition: number;
  /** The first raw offset that the writer takes from the archive segments that it reads now. There is no gap between these segments. */
  readonly rawFrom: number;
  readonly offset: number;
  readonly metadata: string;
}

/**
 * The progress of a replay. While the writer of the replay reads the archive, `reading` is its last commit. While it reads a topic, it
 * commits its offsets to the log, and this object does not contain them.
 */
export interface ReplayState {
  readonly replayId: string;
  readonly phase: ReplayPhase;
  /** One entry per partition, in order. */
  readonly starts: readonly ReplayStart[];
  /** The last chunk that was copied. */
  readonly copied?: ReplayChunk;
  /** The number of records that were copied from the live tables and from the archive. */
  readonly recordsCopied: number;
  readonly recordsToCopy: number;
  /** The ranges that were read from the archive. */
  readonly archived?: readonly ArchivedRange[];
  /** The records that had expired in the archive when the replay read it. Each of them that has no row gets a row with the outcome `expired`. */
  readonly expired?: readonly ExpiredRecords[];
  readonly reading?: ArchivePosition;
  /** The swap that is in progress. */
  readonly swap?: ReplaySwap;
  /** Unix milliseconds of the swap, and the positions at which it was made, by partition. */
  readonly swapped?: {
    readonly at: number;
    readonly positions: readonly SwapPosition[];
    /** The migrations that the swap has applied. A swap with migrations cannot be undone. */
    readonly rebuilds?: readonly string[];
  };
  /** True while an undo is in progress. The former tables are filled with newer records, and then exchanged back. */
  readonly undoing?: boolean;
  /** Unix milliseconds of the first attempt to undo the swap. */
  readonly undoFrom?: number;
  /** Why the last swap did not happen. */
  readonly refusal?: string;
  /** The `askedAt` of the last command (`ReplayWish`) that the leader (the process that carries out the replay) has begun or refused. */
  readonly answered?: number;
}

/** The position at which the live writer of one partition paused. Every row before it is stored. */
export interface SwapPosition {
  /** The offset in `events.enriched`. */
  readonly offset: number;
  readonly rawOffset: number;
}

export interface ReplaySwap {
  /** The number of the request that pauses the writers for this swap (`WritersPause` in packages/ports/src/registry.ts). */
  readonly number: number;
  /** The number of the set of tables (the generation) that is live after the swap. */
  readonly generation: number;
  /** Unix milliseconds. Absent in swaps that an older version of Weir has begun. */
  readonly begunAt?: number;
  /** The migrations that the live tables lack and the shadow tables have. */
  readonly rebuilds?: readonly string[];
  /** Set before the first table is exchanged. From then on, an interrupted swap is continued and never cancelled. */
  readonly positions?: readonly SwapPosition[];
}

/** A command of the operator to a replay. Only the last command is stored. */
export interface ReplayWish {
  readonly replayId: string;
  readonly wish: 'swap' | 'undo' | 'drop';
  /** Unix milliseconds. It is higher than the `askedAt` of all earlier commands. */
  readonly askedAt: number;
}

/** For how long after a swap it can be undone. */
export const UNDO_WITHIN_MS = 24 * 3_600_000;

export interface Replay {
  readonly request: ReplayRequest;
  readonly state?: ReplayState;
  readonly wish?: ReplayWish;
}

/** The command that the leader has neither begun nor refused yet; undefined if there is none. */
export function pendingWish({ state, wish }: Replay): ReplayWish['wish'] | undefined {
  return wish !== undefined && wish.askedAt > (state?.answered ?? 0) ? wish.wish : undefined;
}

/**
 * The rows in which the registry stores a replay. `request` is written by the process that starts it, `state` by the leader, and
 * `wish` by the process that receives a command.
 */
export type ReplayPart =
  | { readonly part: 'request'; readonly value: ReplayRequest }
  | { readonly part: 'state'; readonly value: ReplayState }
  | { readonly part: 'wish'; readonly value: ReplayWish };

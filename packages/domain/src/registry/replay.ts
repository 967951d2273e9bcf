/** Where the records of a replay come from. */
export type ReplaySource = 'enriched';

/** Which records a replay replaces. The tables keep what they have of all others. */
export interface ReplayScope {
  /** Unix milliseconds of received_at: from `sinceMs` up to, not including, `untilMs`. */
  readonly sinceMs?: number;
  readonly untilMs?: number;
  readonly siteId?: string;
}

/** What was asked for. It is stored once and never changes. */
export interface ReplayRequest extends ReplayScope {
  readonly replayId: string;
  readonly from: ReplaySource;
  /** Records per second that are replayed at most; undefined: no limit of its own. */
  readonly recordsPerSecondMax?: number;
  readonly startedAt: number;
}

/**
 * `create`: the shadow tables are made. `copy`: they receive what the replay does not replace. `fill`: the records of the log are
 * replayed. `follow`: the shadow tables have all that the tables have, and follow them. `swap`: the tables are exchanged. `swapped`: the
 * shadow database has the former tables. `undone`: they were exchanged back. `drop`: everything of the replay is removed.
 */
export type ReplayPhase = 'create' | 'copy' | 'fill' | 'follow' | 'swap' | 'swapped' | 'undone' | 'drop';

/** Where the replay of one partition begins. */
export interface ReplayStart {
  /** In the enriched topic. */
  readonly offset: number;
  /** The first raw offset that is replayed. */
  readonly rawOffset: number;
  /** Raw offsets from here on were stored after the start. They are replayed whatever their scope. */
  readonly rawEnd: number;
}

/** A part of the table `records` that is copied at once. */
export interface ReplayChunk {
  readonly logId: string;
  readonly partition: number;
  /** `toYYYYMM(received_at)` */
  readonly month: number;
  /** The raw offset divided by the number of raw offsets in a chunk, rounded down. */
  readonly nth: number;
}

/** How far the replay is. The committed offsets say how far the writer of the replay is. */
export interface ReplayState {
  readonly replayId: string;
  readonly phase: ReplayPhase;
  /** By partition. */
  readonly starts: readonly ReplayStart[];
  /** The last chunk that was copied. */
  readonly copied?: ReplayChunk;
  readonly recordsCopied: number;
  readonly recordsToCopy: number;
  /** The swap that is under way. */
  readonly swap?: ReplaySwap;
  /** Unix milliseconds of the swap, and the positions at which it was made, by partition. */
  readonly swapped?: { readonly at: number; readonly positions: readonly SwapPosition[] };
  /** The former tables are filled up, to be exchanged back. */
  readonly undoing?: boolean;
  /** Unix milliseconds of the first attempt to undo the swap. */
  readonly undoFrom?: number;
  /** Why the last swap did not happen. */
  readonly refusal?: string;
  /** `askedAt` of the last wish that was taken up. */
  readonly answered?: number;
}

/** Where the live writer of one partition paused: every row before it is stored. */
export interface SwapPosition {
  /** In the enriched topic. */
  readonly offset: number;
  readonly rawOffset: number;
}

export interface ReplaySwap {
  /** Of the writers' pause. */
  readonly number: number;
  /** What the live tables shall have after the swap. */
  readonly generation: number;
  /** Set before the first table is exchanged. From then on the swap is only continued, never given up. */
  readonly positions?: readonly SwapPosition[];
}

/** What an operator asked of a running replay. */
export interface ReplayWish {
  readonly replayId: string;
  readonly wish: 'swap' | 'undo' | 'drop';
  /** Unix milliseconds; higher than that of every earlier wish. */
  readonly askedAt: number;
}

/** A former swap can be undone for this time. */
export const UNDO_WITHIN_MS = 24 * 3_600_000;

export interface Replay {
  readonly request: ReplayRequest;
  readonly state?: ReplayState;
  readonly wish?: ReplayWish;
}

/** The wish that was not taken up yet. */
export function pendingWish({ state, wish }: Replay): ReplayWish['wish'] | undefined {
  return wish !== undefined && wish.askedAt > (state?.answered ?? 0) ? wish.wish : undefined;
}

/** The rows in which the registry keeps a replay. Each has one writer: the starter, the leader, and the last one who asked. */
export type ReplayPart =
  | { readonly part: 'request'; readonly value: ReplayRequest }
  | { readonly part: 'state'; readonly value: ReplayState }
  | { readonly part: 'wish'; readonly value: ReplayWish };

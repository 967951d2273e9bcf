import { setTimeout as pause } from 'node:timers/promises';
import { isDependencyError } from '@weir/domain/errors';
import type { Replay, ReplayState, ReplaySwap, SwapPosition } from '@weir/domain/registry/replay';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import type { ShadowTables } from '@weir/ports/shadow-tables';
import { describeError } from '@weir/runtime/consume/consume-retry';
import { auditReport } from '../../audit/audit-report.ts';
import { readBooks } from '../../audit/read-books.ts';
import { countStoredTwice } from '../../dead-letters/redriven-rows.ts';
import { erasureSince } from '../erased-rows-of-log.ts';
import type { Filling } from '../replay-filling.ts';
import { fillPositions, readsRaw } from '../replay-progress.ts';
import { keepOldRollups } from './old-rollups.ts';

/** Pauses the live writers of all processes, so that nothing is inserted while tables are exchanged. */
export interface LiveWriters {
  nextSwap(): Promise<number>;
  pause(swap: number, signal: AbortSignal): Promise<PausedWriters>;
  /** Whether the writers must pause for this swap now. */
  holds(swap: number): boolean;
  /** Ends the pause for this swap, and no other. */
  resume(swap: number): Promise<void>;
}

type PausedWriters =
  | {
      readonly status: 'paused';
      readonly positions: readonly { readonly offset: number; readonly nextRawOffset: number }[];
    }
  | { readonly status: 'late'; readonly partitions: readonly number[] };

export interface SwapDeps {
  readonly eventLog: EventLog;
  readonly analytics: Analytics;
  readonly registry: Registry;
  readonly shadow: ShadowTables;
  readonly liveWriters: LiveWriters;
  readonly clock: () => number;
  readonly filling: Filling;
  readonly signal: AbortSignal;
  /** Rejects if this process is no longer the leader. */
  fence(): Promise<void>;
  putState(state: ReplayState): Promise<void>;
  /** Applies the migrations of this version of Weir to the shadow tables (docs/glossary.md). */
  migrateShadow(state: ReplayState): Promise<void>;
}

/**
 * How long a swap waits until the replay has reached the positions at which the writers paused. Usually the replay is only seconds
 * behind.
 */
const REACH_WITHIN_MS = 60_000;
/**
 * While a dependency is not available, a swap is tried again for at most this time (one exception: `refusalOf`). The time begins when the swap
 * requests that the writers pause. Before this request, it begins with the swap.
 */
const TRY_AGAIN_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 50;
const INTERRUPTED = 'the swap was interrupted before tables were exchanged';

/** Begins a swap: stores its number and its generation, so that another leader can continue it after a crash. */
export async function beginSwap(
  { analytics, shadow, liveWriters, clock, putState }: SwapDeps,
  state: ReplayState,
): Promise<void> {
  const rebuilds = await shadow.missingRebuilds();
  const [number, generation] = [await liveWriters.nextSwap(), (await analytics.generation()) + 1];
  const swap = { number, generation, begunAt: clock(), rebuilds };
  const { refusal: _, ...rest } = state;
  await putState({ ...rest, phase: 'swap', swap });
}

/**
 * Carries out a swap, or continues a swap that an earlier leader has begun:
 *
 *     1. the live writers pause at certain positions
 *     2. the writer of the replay continues exactly to these positions, and stops
 *     3. the leader checks that each set of tables has exactly one outcome of each record up to these positions (`booksProblem`), and that the
 *        shadow tables do not have the content of a redriven dead letter twice (`lettersProblem`)
 *     4. the positions are stored; from now on the swap is not cancelled any more
 *     5. the tables are exchanged
 *     6. the live writers continue
 *
 * If one of the steps 1 to 3 fails, the live writers continue with the old tables, and the state of the replay contains the reason. While a
 * dependency is not available, these steps are repeated (`TRY_AGAIN_WITHIN_MS`).
 */
export async function continueSwap(
  deps: SwapDeps,
  replay: Replay,
  state: ReplayState,
  swap: ReplaySwap,
): Promise<void> {
  const { shadow, liveWriters, clock, fence, putState, migrateShadow, filling } = deps;
  let { positions } = swap;
  if (positions === undefined) {
    const prepared = await prepare(deps, replay, state, swap).catch((error: unknown) => refusalOf(deps, swap, error));
    if (typeof prepared === 'string') return giveUp(deps, state, swap, prepared);
    positions = prepared;
    await putState({ ...state, swap: { ...swap, positions } });
  } else {
    await migrateShadow(state);
  }
  await filling.stop();
  await shadow.exchange(swap.generation);
  await fence();
  await liveWriters.resume(swap.number);
  const { swap: _, undoing, ...rest } = state;
  const swapped = { at: clock(), positions, rebuilds: swap.rebuilds ?? [] };
  await putState({ ...rest, phase: undoing ? 'undone' : 'swapped', swapped });
}

/** Carries out steps 1 to 3. Returns the positions, or the reason why the tables are not exchanged. */
async function prepare(
  deps: SwapDeps,
  replay: Replay,
  state: ReplayState,
  swap: ReplaySwap,
): Promise<readonly SwapPosition[] | string> {
  const { registry, liveWriters, filling, signal, migrateShadow } = deps;
  await migrateShadow(state);
  const erasing = () => erasureSince(registry, { ...replay, state });
  const erasure = erasing();
  if (erasure !== undefined) return erasure;
  const earlier = registry.writersPause();
  if (earlier !== undefined && earlier.swap >= swap.number && !liveWriters.holds(swap.number)) return INTERRUPTED;
  if (earlier?.owner === 'backup' && !earlier.over) {
    return 'the writers are paused for a backup: request the swap again in a minute';
  }
  // From now on the replay does not rest (docs/decisions/0046), so that the pause of the writers is short.
  await filling.lookAround(replay, { isSwap: true });
  const paused = await liveWriters.pause(swap.number, signal);
  if (paused.status === 'late') {
    return `the writers of the partitions ${paused.partitions.join(', ')} did not pause within 60 s: see weir status`;
  }
  const positions = paused.positions.map(({ offset, nextRawOffset: rawOffset }) => ({ offset, rawOffset }));
  if (!(await reaches(deps, replay, state, positions))) {
    return `the replay did not reach the positions of the writers within ${REACH_WITHIN_MS / 1000} s: ${filling.problem() ?? 'it is slow'}`;
  }
  await filling.stop();
  await keepOldRollups(deps, `${replay.request.replayId}:${swap.number}`);
  // No erasure begins while the writers pause, so this check finds every erasure that concerns the swap.
  const problem =
    erasing() ??
    (await booksProblem(deps, positions, { mayGrow: replay.request.from === 'archive', undoing: state.undoing })) ??
    (await lettersProblem(deps));
  return problem ?? (liveWriters.holds(swap.number) ? positions : INTERRUPTED);
}

/** Returns the reason why an error of `prepare` refuses the swap. If the swap must be tried again, throws the error. */
function refusalOf({ registry, liveWriters, clock, signal }: SwapDeps, swap: ReplaySwap, error: unknown): string {
  if (signal.aborted || isDependencyError(error, 'partition_lost')) throw error;
  const code = isDependencyError(error) ? error.code : 'bug';
  const requested = liveWriters.holds(swap.number) ? registry.writersPause() : undefined;
  const since = requested?.requestedAt ?? swap.begunAt ?? 0;
  const isRepeated =
    (code.endsWith('_unavailable') && clock() - since < TRY_AGAIN_WITHIN_MS) ||
    // If it is unknown whether the request for the pause was appended, the swap is always tried again, because the request
    // can still become durable.
    (requested === undefined && code === 'event_log_unavailable');
  if (isRepeated) throw error;
  return `the swap failed before tables were exchanged: ${describeError(error).message}`;
}

async function reaches(
  { eventLog, filling, clock, signal }: SwapDeps,
  replay: Replay,
  state: ReplayState,
  positions: readonly SwapPosition[],
): Promise<boolean> {
  const deadline = clock() + REACH_WITHIN_MS;
  const ends = positions.map(({ rawOffset }) => rawOffset);
  const wanted = readsRaw(replay, state) ? ends : positions.map(({ offset }) => offset);
  while (!signal.aborted) {
    await filling.lookAround(replay, { isSwap: true });
    await filling.keepRunning(replay, state, ends);
    const reached = await fillPositions(eventLog, replay, state);
    if (reached.every(({ next }, partition) => next >= (wanted[partition] ?? 0))) return true;
    if (clock() > deadline) return false;
    await pause(LOOK_EVERY_MS);
  }
  signal.throwIfAborted();
  return false;
}

/**
 * Returns why the tables must not be exchanged, or undefined. Each set of tables must have each record up to the positions once, and its
 * counts by outcome must include all of these records. Both sets must have the same number of records. With `mayGrow`, the shadow tables may
 * have more records of earlier logs, which the replay has read from the archive. With `mayGrow` and `undoing`, the live tables may have
 * more of these.
 */
async function booksProblem(
  { eventLog, analytics, shadow }: SwapDeps,
  positions: readonly SwapPosition[],
  { mayGrow, undoing = false }: { readonly mayGrow: boolean; readonly undoing?: boolean | undefined },
): Promise<string | undefined> {
  const ends = positions.map(({ rawOffset: end }, partition) => ({ partition, end }));
  const received: number[] = [];
  const earlier: ReadonlyMap<string, number>[] = [];
  for (const [side, database] of [
    ['tables', shadow.live],
    ['shadow tables', shadow.shadow],
  ] as const) {
    const { stored, counts } = await readBooks(analytics, `${database}.records`);
    const report = auditReport(eventLog.logId, ends, stored, counts, false);
    const { received: all, in_flight: missing } = report.totals;
    if (!report.balanced || missing > 0) {
      return `the books of the ${side} do not balance (weir audit): ${missing} of ${all} records are missing at the end, or some are missing or repeated`;
    }
    const [row] = await analytics.select<{ n: string | number }>(`SELECT sum(records) AS n FROM ${database}.books`);
    if (Number(row?.n) !== all) return `the books of the ${side} have ${row?.n} records, but records has ${all}`;
    const ofEarlier = report.partitions.filter(({ log_id }) => log_id !== eventLog.logId);
    earlier.push(new Map(ofEarlier.map((one) => [`${one.log_id} ${one.partition}`, one.received])));
    received.push(mayGrow ? all - ofEarlier.reduce((sum, one) => sum + one.received, 0) : all);
  }
  if (received[0] !== received[1]) {
    return `the tables have ${received[0]} records, but the shadow tables ${received[1]}`;
  }
  const [less = new Map(), more = new Map()] = undoing ? earlier.reverse() : earlier;
  const lost = [...less].find(([partition, records]) => (more.get(partition) ?? 0) < records);
  const side = undoing ? 'tables' : 'shadow tables';
  return lost && `the ${side} do not have all ${lost[1]} records of the earlier log and partition ${lost[0]}`;
}

async function lettersProblem({ shadow }: SwapDeps): Promise<string | undefined> {
  const letters = await countStoredTwice(shadow);
  if (letters === 0) return undefined;
  return `${letters} dead letters were redriven when the replay had begun, so the shadow tables have their records twice: drop the replay and start it again`;
}

async function giveUp(
  { liveWriters, fence, putState }: SwapDeps,
  state: ReplayState,
  { number }: ReplaySwap,
  refusal: string,
): Promise<void> {
  await fence();
  await liveWriters.resume(number);
  const { swap: _, undoing, ...rest } = state;
  await putState({ ...rest, phase: undoing ? 'swapped' : 'follow', refusal });
}

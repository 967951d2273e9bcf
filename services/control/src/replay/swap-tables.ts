import { setTimeout as pause } from 'node:timers/promises';
import type { Replay, ReplayState, ReplaySwap, SwapPosition } from '@weir/domain/registry/replay';
import type { Analytics } from '@weir/ports/analytics';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import type { ShadowTables } from '@weir/ports/shadow-tables';
import { auditReport } from '../audit/audit-report.ts';
import { readBooks } from '../audit/read-books.ts';
import { erasureSince, startedAt } from './erased-rows-of-log.ts';
import type { Filling } from './replay-filling.ts';
import { fillPositions } from './replay-progress.ts';

/** Pauses the live writers: services/writer/src/pause/pause-writers.ts. */
export interface LiveWriters {
  nextSwap(): Promise<number>;
  pause(swap: number, signal: AbortSignal): Promise<PausedWriters>;
  resume(): Promise<void>;
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
  putState(state: ReplayState): Promise<void>;
}

/** How long the replay may take to reach the positions at which the writers paused. It is at most some seconds behind them. */
const REACH_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 50;

/** The numbers of a swap are stored before anything else is done. */
export async function beginSwap({ analytics, liveWriters, putState }: SwapDeps, state: ReplayState): Promise<void> {
  const swap = { number: await liveWriters.nextSwap(), generation: (await analytics.generation()) + 1 };
  const { refusal: _, ...rest } = state;
  await putState({ ...rest, phase: 'swap', swap });
}

/**
 * One swap, from wherever an earlier leader left it:
 *
 *     1. the live writers pause; their positions are the end of both generations
 *     2. the replay reaches exactly these positions, and its writer stops
 *     3. the books of both sides balance up to these positions
 *     4. the positions are stored: from here on the swap is only continued
 *     5. the tables are exchanged
 *     6. the writers go on
 *
 * If 1 to 3 fail, the writers go on with the tables as they were, and the state says why.
 */
export async function continueSwap(
  deps: SwapDeps,
  replay: Replay,
  state: ReplayState,
  swap: ReplaySwap,
): Promise<void> {
  const { shadow, liveWriters, clock, putState, filling } = deps;
  let { positions } = swap;
  if (positions === undefined) {
    const prepared = await prepare(deps, replay, state, swap);
    if (typeof prepared === 'string') return giveUp(deps, state, prepared);
    positions = prepared;
    await putState({ ...state, swap: { ...swap, positions } });
  }
  await filling.stop();
  await shadow.exchange(swap.generation);
  await liveWriters.resume();
  const { swap: _, undoing, ...rest } = state;
  const swapped = { at: clock(), positions };
  await putState({ ...rest, phase: undoing ? 'undone' : 'swapped', swapped });
}

/** Steps 1 to 3. Returns the positions, or why the tables are not exchanged. */
async function prepare(
  deps: SwapDeps,
  replay: Replay,
  state: ReplayState,
  swap: ReplaySwap,
): Promise<readonly SwapPosition[] | string> {
  const { registry, liveWriters, filling, signal } = deps;
  const erasing = () => erasureSince(registry, startedAt({ ...replay, state }));
  const erasure = erasing();
  if (erasure !== undefined) return erasure;
  const earlier = registry.writersPause();
  if (earlier?.swap === swap.number && earlier.over) return 'the swap was interrupted before tables were exchanged';
  const paused = await liveWriters.pause(swap.number, signal);
  if (paused.status === 'late') {
    return `the writers of the partitions ${paused.partitions.join(', ')} did not pause within 60 s: see weir status`;
  }
  const positions = paused.positions.map(({ offset, nextRawOffset: rawOffset }) => ({ offset, rawOffset }));
  if (!(await reaches(deps, replay, state, positions))) {
    return `the replay did not reach the positions of the writers within ${REACH_WITHIN_MS / 1000} s: ${filling.problem() ?? 'it is slow'}`;
  }
  await filling.stop();
  // While the writers pause, no erasure begins: one that began before the pause is found here.
  return erasing() ?? (await booksProblem(deps, positions)) ?? positions;
}

async function reaches(
  { eventLog, filling, clock, signal }: SwapDeps,
  replay: Replay,
  state: ReplayState,
  positions: readonly SwapPosition[],
): Promise<boolean> {
  const deadline = clock() + REACH_WITHIN_MS;
  const ends = positions.map(({ rawOffset }) => rawOffset);
  while (!signal.aborted) {
    await filling.lookAround(replay, { isSwap: true });
    await filling.keepRunning(replay, state, ends);
    const reached = await fillPositions(eventLog, state);
    if (reached.every(({ next }, partition) => next >= (positions[partition]?.offset ?? 0))) return true;
    if (clock() > deadline) return false;
    await pause(LOOK_EVERY_MS);
  }
  signal.throwIfAborted();
  return false;
}

/** Both sides have each raw record up to the positions once, the same number of them, and books of all of them. */
async function booksProblem(
  { eventLog, analytics, shadow }: SwapDeps,
  positions: readonly SwapPosition[],
): Promise<string | undefined> {
  const ends = positions.map(({ rawOffset: end }, partition) => ({ partition, end }));
  const received: number[] = [];
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
    received.push(all);
  }
  if (received[0] === received[1]) return undefined;
  return `the tables have ${received[0]} records, but the shadow tables ${received[1]}`;
}

async function giveUp({ liveWriters, putState }: SwapDeps, state: ReplayState, refusal: string): Promise<void> {
  await liveWriters.resume();
  const { swap: _, undoing, ...rest } = state;
  await putState({ ...rest, phase: undoing ? 'swapped' : 'follow', refusal });
}

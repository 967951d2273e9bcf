import { DependencyError, isDependencyError } from '@weir/domain/errors';
import type { Analytics } from '@weir/ports/analytics';
import type { DiskSpace } from '@weir/ports/disk-space';
import type { EventLog } from '@weir/ports/event-log';
import { assertAssigned, describeError, pauseBeforeRetry } from '@weir/runtime/consume/consume-retry';
import type { AssignedPartition } from '@weir/runtime/consume/run-consumer';
import { waitForDiskSpace } from '@weir/runtime/consume/wait-for-disk-space';
import type { Logger } from '@weir/runtime/logger';
import type { Slots } from '@weir/runtime/task-slots';
import { type Batch, halve, type Row } from './batch.ts';
import type { WriterLimits } from './batcher.ts';
import { createCommittedPosition } from './committed-position.ts';
import { createDeadRun } from './dead-run.ts';
import { createGatherer } from './gatherer.ts';
import {
  assertStored,
  insertBatch,
  PLAN_FRESH_MS,
  type PlannedInsert,
  planInsert,
  UNKNOWN_SETTLES_MS,
} from './insert-batch.ts';
import { isTokenForgotten } from './latest-block.ts';
import { requestedSwap, type WritersPauses } from './pause/writers-pause.ts';
import { assertAsPlanned, type Plan, refusalText } from './plan.ts';
import type { ReopenableConsumer } from './reopen-partition.ts';
import type { ReplayedRows } from './replayed-rows.ts';
import { reportFailure } from './report-failure.ts';
import { findResumePoint } from './resume-point.ts';

export interface PartitionWriterDeps extends AssignedPartition {
  readonly eventLog: EventLog;
  readonly analytics: Analytics;
  readonly clock: () => number;
  /** A monotonic clock that measures how long inserts take, because the system clock can be set forward or back. Default: `performance.now`. */
  readonly monotonicMs?: (() => number) | undefined;
  readonly logger: Logger;
  readonly insertSlots: Slots;
  /** Resolves with the latest block of `records`, as it was at most 5 s ago (latest-block.ts). */
  readonly latestBlock: Analytics['latestBlock'];
  readonly disk?: DiskSpace | undefined;
  readonly limits: WriterLimits;
  /** If undefined, the writer never pauses, because its tables are not the live ones. */
  readonly pauses: WritersPauses | undefined;
  readonly replay?: ReplayedRows | undefined;
}

type State = 'gather' | 'plan' | 'insert' | 'verify' | 'divide' | 'stored' | 'commit' | 'pause' | 'reopen';

/** While the loop is in one of these states, it occupies one insert slot. The number of slots limits the concurrent inserts of all partitions. */
const IN_SLOT: ReadonlySet<State> = new Set<State>(['plan', 'insert', 'verify']);

/**
 * Writes one enriched partition to the table `records`. One loop drives this state machine:
 *
 *     state    what it does                                           next state
 *     -------  -----------------------------------------------------  ------------------------------------------------
 *     gather   waits for a full batch or the end of the linger        plan (a batch is ready), commit (no batch is ready),
 *                                                                     pause (a swap asks for it)
 *     plan     takes an insert slot and the batch; commits the plan   insert, pause (before it takes a batch),
 *              of the first piece (at first the batch is one piece)   reopen (the token may be forgotten)
 *     insert   inserts the piece with the token of its plan           stored, verify (after an unknown result),
 *                                                                     divide (ClickHouse refused the rows)
 *     verify   checks that `records` really holds the piece           stored
 *     divide   halves the piece; replaces a single refused row by     plan
 *              its dead letter
 *     stored   drops the piece                                        plan (more pieces, or the next batch is ready),
 *                                                                     commit
 *     commit   commits the offset before the first waiting row        gather, plan (a batch is ready)
 *     pause    commits the position and the swap that asks for it     reopen, gather (the swap does not ask for it any more)
 *     reopen   ends the loop: the partition is opened again from      (paused-partition.ts until the swap is over, then
 *              its last commit, as after a takeover. Also after       gather)
 *              ClickHouse refused an insert of another generation
 *
 * After any other failure the loop waits (100 ms, doubling to 5 s) and goes back to plan with the same pieces, or to gather if there are
 * none. After a failed commit it goes to gather without waiting. It ends when the partition is revoked. After a takeover it starts with
 * the committed plan (plan.ts). docs/exactly-once.md says why each row is stored exactly once. A swap exchanges all tables (docs/glossary.md).
 */
export async function openPartitionWriter(deps: PartitionWriterDeps): Promise<ReopenableConsumer> {
  const { handle, eventLog, analytics, clock, limits, metrics, progress, logger, pauses } = deps;
  const { partition, signal } = handle;
  const { logId } = eventLog;
  const now = deps.monotonicMs ?? (() => performance.now());
  const settlesMs = limits.unknownSettlesMs ?? UNKNOWN_SETTLES_MS;

  const resume = await findResumePoint(handle, eventLog, analytics, deps.replay);
  if (resume.warning !== undefined) logger.warn({ partition }, resume.warning);
  const gatherer = createGatherer({
    limits,
    firstRawOffset: resume.next,
    firstOffset: handle.committed?.offset ?? 0,
    planned: resume.redo,
    interrupted: () => swapToPauseFor() !== undefined,
    lineOf: deps.replay && ((row) => deps.replay?.lineOf(partition, row)),
    expectsMore: () => deps.replay?.expectsMore(partition) ?? false,
    signal,
  });

  /** The plan of the previous owner, until this writer has repeated its insert. */
  let redo: Plan | undefined = resume.redo;
  let [batchRows, batchEnd] = [0, 0];
  /** The remaining pieces of the current batch, in order. Each piece is planned and inserted on its own. */
  let pieces: readonly Batch[] = [];
  let planned: PlannedInsert & { readonly at: number; readonly settled: boolean };
  /** The latest block of `records` before the first insert of the first piece, which later inserts repeat. Undefined before it. */
  let block: number | undefined = redo?.block;
  let refusal = '';
  /** Until this time (of `now`), an earlier insert of the first piece may still be running. This writer or the previous owner sent it. */
  let unsettledUntil = redo === undefined ? 0 : now() + settlesMs;
  /** True if an earlier insert of the first piece may have stored its token in ClickHouse without its rows. */
  let doubtful = redo !== undefined;
  const isDeadRun = createDeadRun(deps);
  let retries = 0;
  const position = createCommittedPosition(handle, gatherer, { next: resume.next, planned: redo !== undefined });
  let mustReopen = false;
  /** The error that ended the loop, if any. `handle` then rejects with this error. */
  let ended: unknown;

  const steps: Readonly<Record<State, () => Promise<State>>> = {
    async gather() {
      await gatherer.due();
      if (swapToPauseFor() !== undefined) return 'pause';
      return gatherer.ready() ? 'plan' : 'commit';
    },

    async plan() {
      if (swapToPauseFor() !== undefined) return 'pause';
      await waitForDiskSpace({ disk: deps.disk, partition, signal, progress, metrics });
      assertAssigned(signal, partition);
      // Before the requests to ClickHouse: if they fail, the partition counts as waiting (`afterFailure`).
      if (pieces.length === 0) takeBatch();
      if (doubtful && (await isTokenForgotten(redo ?? planned.plan, logId, partition, analytics))) return 'reopen';
      block ??= await deps.latestBlock();
      const piece = pieces[0] as Batch;
      const insert = planInsert(piece, { generation: resume.generation, block }, logId, partition);
      assertAsPlanned(redo, insert.plan, partition);
      const [at, since] = [now(), clock()];
      // `settled` is computed before the insert. It is false as long as an earlier insert can still add its rows: missing rows in `records` then
      // prove nothing.
      planned = { ...insert, at, settled: at >= unsettledUntil };
      await position.commitPlan((piece.rows[0] as Row).offset, insert);
      // The longer time counts: the monotonic clock does not count the time during which the machine was suspended, but the system clock does.
      if (Math.max(now() - at, clock() - since) > PLAN_FRESH_MS)
        throw new DependencyError('event_log_unavailable', `partition ${partition}: the plan took too long to commit`);
      return 'insert';
    },

    async insert() {
      const result = await insertBatch(analytics, planned, logId, partition).catch((error: unknown) => {
        unsettledUntil = now() + settlesMs;
        doubtful = true;
        throw error;
      });
      metrics.batch(partition, (now() - planned.at) / 1000);
      if (result.status === 'inserted') return doubtful ? 'verify' : 'stored';
      refusal = result.error;
      return 'divide';
    },

    async verify() {
      await assertStored(analytics, planned, logId, partition);
      return 'stored';
    },

    async divide() {
      redo = undefined;
      const [piece, ...rest] = pieces as readonly [Batch, ...Batch[]];
      // A single row does not need this wait: its dead letter has the same token, so ClickHouse stores either the row or the dead letter.
      if (piece.rows.length > 1 && !planned.settled) {
        const message = `${refusal}, but an earlier insert may still be running: the batch is not divided yet`;
        throw new DependencyError('analytics_unavailable', message);
      }
      unsettledUntil = 0;
      retries = 0;
      if (piece.rows.length > 1) [pieces, block] = [[...halve(piece), ...rest], undefined];
      else if (piece.dead === undefined) pieces = [{ rows: piece.rows, dead: refusalText(refusal) }, ...rest];
      else {
        pieces = [{ rows: piece.rows }, ...rest];
        throw new DependencyError('analytics_refused', `ClickHouse refuses even a dead letter: ${refusal}`);
      }
      return 'plan';
    },

    async stored() {
      redo = undefined;
      block = undefined;
      unsettledUntil = 0;
      doubtful = false;
      retries = 0;
      if (!isDeadRun(pieces[0] as Batch) && !gatherer.hasGap()) progress.recovered();
      pieces = pieces.slice(1);
      if (pieces.length > 0) return 'plan';
      progress.advance(batchRows, batchEnd);
      metrics.records(partition, batchRows);
      return gatherer.ready() ? 'plan' : 'commit';
    },

    async commit() {
      await commitPosition();
      if (gatherer.ready()) return 'plan';
      if (gatherer.firstRow() === undefined) metrics.idle(partition);
      gatherer.restLinger(position.isCommitted());
      return 'gather';
    },

    async pause() {
      const swap = swapToPauseFor();
      if (swap === undefined) return 'gather';
      await position.commitPaused(swap);
      return 'reopen';
    },

    async reopen() {
      if (!gatherer.hasGap()) progress.recovered();
      mustReopen = true;
      gatherer.close();
      handle.wake();
      return 'reopen';
    },
  };

  /** The swap for which the partition must pause now. Undefined while a batch, or the plan of the previous owner, is not finished. */
  function swapToPauseFor(): number | undefined {
    return pieces.length > 0 || redo !== undefined ? undefined : requestedSwap(pauses);
  }

  function takeBatch(): void {
    const batch = gatherer.take();
    pieces = [batch];
    batchRows = batch.rows.length;
    batchEnd = (batch.rows[batchRows - 1] as Row).offset + 1;
  }

  async function commitPosition(): Promise<void> {
    if (redo === undefined) await position.commitPosition();
  }

  async function run(): Promise<void> {
    let state: State = 'gather';
    while (!signal.aborted && !mustReopen) {
      try {
        state = IN_SLOT.has(state) ? await deps.insertSlots(() => runInSlot(state)) : await steps[state]();
      } catch (error) {
        if (isDependencyError(error, 'partition_lost')) throw error;
        state = state === 'commit' ? afterFailedCommit(error) : await afterFailure(error);
      }
    }
    // While a swap is requested, the position is not committed here: a commit that does not name the swap would end the pause.
    if (mustReopen || requestedSwap(pauses) !== undefined) return;
    if (pieces.length === 0) await commitPosition();
  }

  /** The loop continues at once: no insert depends on this commit, and the next commit includes it. */
  function afterFailedCommit(error: unknown): State {
    if (!isDependencyError(error, 'event_log_unavailable')) throw error;
    progress.failed(describeError(error).message);
    gatherer.restLinger(false);
    return 'gather';
  }

  async function afterFailure(error: unknown): Promise<State> {
    reportFailure(error, retries, deps);
    if (pieces.length > 0) metrics.waiting(partition);
    await pauseBeforeRetry(retries++, signal);
    if (isDependencyError(error, 'generation_changed')) return 'reopen';
    return pieces.length === 0 ? 'gather' : 'plan';
  }

  async function runInSlot(first: State): Promise<State> {
    let state = first;
    while (IN_SLOT.has(state)) state = await steps[state]();
    return state;
  }

  const stopListening = pauses?.onWritersPause(gatherer.lookAgain);
  const running = run().catch((error: unknown) => {
    ended = error;
    gatherer.close();
  });

  return {
    async handle(records) {
      const [oldest] = records;
      if (oldest !== undefined) metrics.delay(partition, (clock() - oldest.appendedAt) / 1000);
      if (ended !== undefined) throw ended;
      assertAssigned(signal, partition);
      const repeats = gatherer.push(records);
      if (repeats > 0) metrics.repeats(partition, repeats);
      await gatherer.room();
      if (ended !== undefined) throw ended;
    },
    mustReopen: () => mustReopen,
    async close() {
      stopListening?.();
      gatherer.close();
      await running;
    },
  };
}

import { DependencyError } from '@weir/domain/errors';
import type { ArchivedRange, ArchivePosition, Replay, ReplayState } from '@weir/domain/registry/replay';
import type { Commit } from '@weir/ports/event-log';
import type { ObjectStore } from '@weir/ports/object-store';
import type { PartitionStatus } from '@weir/runtime/consume/consume-status';
import { readRedrivenRows } from '../../dead-letters/redriven-rows.ts';
import { createRowEraser, startedAt } from '../erased-rows-of-log.ts';
import { type FillerDeps, restingAfterInserts } from '../replay-filler.ts';
import type { ReplayGate } from '../replay-gate.ts';
import { takesRow } from '../replay-scope.ts';
import { createArchiveLog } from './archive-log.ts';
import {
  type ArchiveRun,
  firstRawOffset,
  includes,
  isBefore,
  listRuns,
  neededRuns,
  segmentsGone,
} from './archive-runs.ts';

export interface ArchiveFillDeps extends FillerDeps {
  readonly archive?: ObjectStore | undefined;
  readonly gate: ReplayGate;
  readonly signal: AbortSignal;
  putState(state: ReplayState): Promise<void>;
  /** Called about every second with the status of the writer. Resolves with false when the work must stop. */
  goesOn(status: readonly PartitionStatus[]): Promise<boolean>;
}

/** A run of the archive to read, with the offsets of `events.raw` (`rawEnd` exclusive) whose rows are taken from it. */
interface ReadRun {
  readonly run: ArchiveRun & { readonly records: number };
  readonly rawFrom: number;
  readonly rawEnd: number;
  readonly committed: Commit | undefined;
}

export function archiveOf({ archive }: Pick<ArchiveFillDeps, 'archive'>): ObjectStore {
  if (archive !== undefined) return archive;
  throw new DependencyError(
    'object_store_refused',
    'ARCHIVE_URL is not set for the role control, which reads the archive',
  );
}

/**
 * Fills the shadow tables (docs/glossary.md) from the archive with the rows that are not replayed from the topic. Reads one run (segments without a
 * gap) after the other. A run is read by the code of the live writer, which inserts each row exactly once. The commits of this writer are stored in
 * the state of the replay. Resolves with the new state when all runs are read, or with undefined when the work must stop before that.
 */
export async function fillFromArchive(
  deps: ArchiveFillDeps,
  replay: Replay,
  state: ReplayState,
): Promise<ReplayState | undefined> {
  const { eventLog, gate } = deps;
  const store = archiveOf(deps);
  const runs = neededRuns(await listRuns(store, replay.request), eventLog.logId, state.starts);
  gate.setEnds(Array.from({ length: 1 + Math.max(0, ...runs.map(({ partition }) => partition)) }, () => UNLIMITED));
  let now = state;
  let recordsBefore = 0;
  for (const run of runs) {
    const unread = await whatToRead(run, now);
    if (unread !== undefined) {
      const read = await readRun(deps, replay, { ...now, recordsCopied: recordsBefore }, unread);
      if (read === undefined) return undefined;
      now = read;
    }
    recordsBefore += run.records;
  }
  return { ...now, recordsCopied: recordsBefore };

  /** Returns the part of the run that is still to be read. Undefined if an earlier attempt has read the run, or if the log has all of its records. */
  async function whatToRead(run: ReadRun['run'], { reading }: ReplayState): Promise<ReadRun | undefined> {
    if (reading !== undefined && isBefore(run, reading)) return undefined;
    const rawEnd = run.logId === eventLog.logId ? (state.starts[run.partition]?.rawOffset ?? 0) : UNLIMITED;
    const resumed = reading !== undefined && includes(run, reading) ? reading : undefined;
    if (resumed === undefined && isLost(run, now))
      throw segmentsGone({ ...run, to: run.from - 1 }, reading?.offset ?? 0);
    const rawFrom = resumed?.rawFrom ?? (await firstRawOffset(store, run));
    return rawFrom === undefined || rawFrom >= rawEnd ? undefined : { run, rawFrom, rawEnd, committed: resumed };
  }
}

/**
 * True if an earlier attempt was reading segments that have expired since. This run then begins after the position at which
 * that attempt was reading.
 */
function isLost({ logId, partition, from }: ArchiveRun, { reading, archived = [] }: ReplayState): boolean {
  if (reading?.logId !== logId || reading.partition !== partition || reading.offset >= from) return false;
  return !archived.some(
    (range) => range.logId === logId && range.partition === partition && range.from === reading.rawFrom,
  );
}

const UNLIMITED = Number.MAX_SAFE_INTEGER;

async function readRun(
  deps: ArchiveFillDeps,
  replay: Replay,
  state: ReplayState,
  { run, rawFrom, rawEnd, committed }: ReadRun,
): Promise<ReplayState | undefined> {
  const { eventLog, registry, shadow, gate, signal, putState, goesOn, startReplayWriter } = deps;
  const { request } = replay;
  const erased = createRowEraser(registry, startedAt({ request, state }), request.keep);
  const redriven = await readRedrivenRows(shadow);
  const start = { offset: run.from, rawOffset: rawFrom, rawEnd: UNLIMITED };
  const at = ({ offset, metadata }: Commit): ArchivePosition => {
    return { logId: run.logId, partition: run.partition, rawFrom, offset, metadata };
  };
  const archive = createArchiveLog({
    ...{ eventLog, gate, run, committed, rawEnd },
    store: archiveOf(deps),
    save: (commit) =>
      putState({
        ...state,
        reading: at(commit),
        recordsCopied: state.recordsCopied + Math.min(run.records, commit.offset - run.from),
      }),
  });
  const writer = await startReplayWriter({
    eventLog: archive.eventLog,
    analytics: restingAfterInserts(shadow.analytics, gate),
    firstRawOffset: () => rawFrom,
    lineOf(_, row) {
      if (!takesRow(row, start, request)) return undefined;
      return erased(redriven.row(run.logId, run.partition, row));
    },
    // The writer need not wait longer to get full batches: it reads only one partition, so a batch fills quickly.
    expectsMore: () => false,
  });
  const finished = archive.finished.then((rawNext) => ({ rawNext }));
  let ended: { readonly rawNext: number } | boolean = true;
  try {
    while (ended === true && !signal.aborted) ended = await Promise.race([finished, goesOn(writer.status())]);
  } finally {
    gate.setBesideLive(false);
    await writer.close();
  }
  if (typeof ended === 'boolean') return undefined;
  const { logId, partition } = run;
  const range: ArchivedRange = { logId, partition, from: rawFrom, to: Math.min(ended.rawNext, rawEnd) - 1 };
  const read = {
    ...state,
    reading: at({ offset: run.to + 1, metadata: '' }),
    archived: [...(state.archived ?? []), range],
  };
  await putState(read);
  return read;
}

import { isDependencyError } from '@weir/domain/errors';
import { parseTimestamp, TIMESTAMP_RULE } from '@weir/domain/ingest/timestamp';
import { GROUP_ARCHIVER, TOPIC_ENRICHED } from '@weir/domain/records/topics';
import {
  type Replay,
  type ReplayRequest,
  type ReplaySource,
  type ReplayWish,
  UNDO_WITHIN_MS,
} from '@weir/domain/registry/replay';
import { assertNoUnknownSegments } from '@weir/runtime/archive/unknown-segments';
import type { AdminDeps } from '../control-deps.ts';
import { accepted, busy, conflict, created, invalid, notFound, ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest } from '../http/admin-route.ts';
import type { Checked } from '../http/compile-body.ts';
import { readCount } from '../http/query-parameters.ts';
import { randomId } from '../registry/random-id.ts';
import { LIMIT_MAX, readQuery } from '../reports/read-query.ts';
import { type ArchiveRun, listRuns, missingRows, neededRuns } from './archive/archive-runs.ts';
import { listExpired } from './archive/expired-records.ts';
import { type CountedChunk, listChunks } from './copy-base.ts';
import { replayDiff } from './diff/replay-diff.ts';
import { planStarts } from './plan-replay.ts';
import { isWhole } from './replay-scope.ts';
import { replayView } from './replay-view.ts';
import { EXPIRING, requestReplay, whyNoReplay } from './request-replay.ts';

interface NewReplay {
  readonly from: ReplaySource;
  readonly since?: string;
  readonly until?: string;
  readonly site_id?: string;
  readonly records_per_second_max?: number;
  readonly dry_run?: boolean;
}

/** The default for the number of changed values that a diff shows for each column. */
const DIFF_VALUES = 20;
const NOT_YET = 'the shadow tables do not have all records yet: see weir replay status';
const UNDONE = 'the swap was undone: weir replay drop removes the shadow tables, then you can start another replay';
const EXCHANGED =
  'the tables were exchanged already: weir replay drop removes the shadow tables, then you can start another replay';
const SWAPPING = 'the tables are being exchanged: wait until that is done (weir replay status)';
const COMPARING = 'a diff with another limit is being computed: send the request again later';
const NO_ARCHIVE = 'ARCHIVE_URL is not set for the role control: set it and start Weir again';
const NO_REPLAY: Reply = { status: 404, message: 'there is no replay: start one (weir replay start)' };

/**
 * Stores the request for a replay, which the leader (replay-leader.ts) then carries out. With `dry_run`, only returns how many records
 * it would copy and replay.
 */
export async function startReplay(deps: AdminDeps, { body }: AdminRequest<NewReplay>): Promise<Reply> {
  const { registry } = deps;
  if ('problem' in body) return invalid(body.problem);
  const read = readRequest(deps, body.value);
  if ('problem' in read) return invalid(read.problem);
  const request = read.value;
  if (request.siteId !== undefined && registry.site(request.siteId) === undefined) return notFound('site');
  const refusal = request.from === 'archive' ? await archiveProblem(deps) : undefined;
  if (refusal !== undefined) return conflict(refusal);
  if (body.value.dry_run) return ok(await dryRun(deps, request));
  const refused =
    whyNoReplay(registry) ??
    // `runRedrive` waits until a redrive of dead letters (docs/glossary.md) in this process has ended: its records must be in the tables when the
    // replay begins. During this wait, an erasure or another replay can begin, so `requestReplay` checks this again.
    (await deps.runRedrive(() => requestReplay(registry, request)));
  if (refused !== undefined) return conflict(refused);
  return created(await replayView(deps, registry.replay() ?? { request }));
}

export async function readReplay(deps: AdminDeps): Promise<Reply> {
  const replay = deps.registry.replay();
  return replay === undefined ? NO_REPLAY : ok(await replayView(deps, replay));
}

/** Returns the differences between the shadow tables (docs/glossary.md) and the live tables, or the progress of a diff that takes long. */
export async function diffReplay(deps: AdminDeps, { http }: AdminRequest): Promise<Reply> {
  const { registry, tables, shadow, eventLog, diffRuns } = deps;
  const query = readQuery(http.originalUrl, ['limit']);
  if ('problem' in query) return invalid(query.problem);
  const limit = readCount('limit', query.value.limit, { max: LIMIT_MAX, otherwise: DIFF_VALUES });
  if ('problem' in limit) return invalid(limit.problem);
  const replay = registry.replay();
  if (replay === undefined) return NO_REPLAY;
  if (replay.state?.phase !== 'follow') return conflict(whyNotComplete(replay));
  const { state } = replay;
  const diff = await diffRuns.ask(`${replay.request.replayId} ${limit.value}`, (report) =>
    tables.read((analytics) =>
      replayDiff({ analytics, shadow, logId: eventLog.logId }, replay, state, limit.value, report),
    ),
  );
  if (diff === 'busy') return busy(COMPARING);
  return 'steps' in diff ? accepted(diff) : ok(diff);
}

/** Asks the leader to exchange the tables. */
export function swapReplay(deps: AdminDeps): Promise<Reply> {
  return wish(deps, 'swap', (replay) => (replay.state?.phase === 'follow' ? undefined : whyNotComplete(replay)));
}

/** Says why the shadow tables of a replay that is not in the phase `follow` cannot be compared or exchanged. */
function whyNotComplete({ state }: Replay): string {
  if (state?.phase === 'undone') return UNDONE;
  if (state?.phase === 'swapped') return EXCHANGED;
  return state?.phase === 'swap' ? SWAPPING : NOT_YET;
}

/** Asks the leader to exchange the tables back. */
export function undoReplay(deps: AdminDeps): Promise<Reply> {
  return wish(deps, 'undo', ({ state }) => {
    if (state?.phase === 'swap') return SWAPPING;
    if (state?.phase !== 'swapped' || state.swapped === undefined) return 'there is no swap to undo';
    if (deps.registry.expiry() !== undefined) return EXPIRING;
    // The first attempt to undo decides which erasures apply to the former tables, so it must not begin while an erasure runs.
    const erasure = deps.registry.erasures().find(({ finishedAt }) => finishedAt === undefined);
    if (erasure !== undefined) {
      const { erasureId } = erasure;
      return `the erasure ${erasureId} is running: undo the swap when it is done (weir forget --receipt ${erasureId})`;
    }
    const { rebuilds = [] } = state.swapped;
    if (rebuilds.length > 0) return `the swap has applied ${rebuilds.join(', ')}: it cannot be undone`;
    return deps.clock() < state.swapped.at + UNDO_WITHIN_MS ? undefined : 'the swap is more than 24 hours old';
  });
}

/** Asks the leader to remove the replay with its shadow tables. The removal is complete when the replay is not found any more. */
export function dropReplay(deps: AdminDeps): Promise<Reply> {
  return wish(deps, 'drop', ({ state }) => (state?.phase === 'swap' ? SWAPPING : undefined));
}

async function wish(
  deps: AdminDeps,
  wanted: ReplayWish['wish'],
  refusal: (replay: Replay) => string | undefined,
): Promise<Reply> {
  const { registry, clock } = deps;
  // An erasure that another process has just begun must be known: a refusal by the leader is final for an undo.
  await registry.readToEnd();
  const replay = registry.replay();
  if (replay === undefined) return NO_REPLAY;
  const refused = refusal(replay);
  if (refused !== undefined) return conflict(refused);
  const { replayId } = replay.request;
  const askedAt = Math.max(clock(), (replay.wish?.askedAt ?? 0) + 1, (replay.state?.answered ?? 0) + 1);
  await registry.putReplayWish({ replayId, wish: wanted, askedAt });
  return ok(await replayView(deps, { ...replay, wish: { replayId, wish: wanted, askedAt } }));
}

function readRequest({ clock, randomBytes, keep }: AdminDeps, body: NewReplay): Checked<ReplayRequest> {
  const { since, until, site_id: siteId, records_per_second_max: rate } = body;
  const sinceMs = since === undefined ? undefined : parseTimestamp(since);
  const untilMs = until === undefined ? undefined : parseTimestamp(until);
  if (since !== undefined && sinceMs === undefined) return { problem: `since ${TIMESTAMP_RULE}` };
  if (until !== undefined && untilMs === undefined) return { problem: `until ${TIMESTAMP_RULE}` };
  if (sinceMs !== undefined && untilMs !== undefined && untilMs <= sinceMs) {
    return { problem: 'until must be later than since' };
  }
  if (body.from === 'tables' && (since ?? until ?? siteId) !== undefined) {
    return { problem: 'since, until and site_id cannot be used with from: tables, which copies all records' };
  }
  return {
    value: {
      replayId: randomId('replay', randomBytes),
      from: body.from,
      startedAt: clock(),
      keep,
      ...(sinceMs === undefined ? {} : { sinceMs }),
      ...(untilMs === undefined ? {} : { untilMs }),
      ...(siteId === undefined ? {} : { siteId }),
      ...(rate === undefined ? {} : { recordsPerSecondMax: rate }),
    },
  };
}

function dryRun(deps: AdminDeps, request: ReplayRequest) {
  const { eventLog, registry, shadow, archive, clock } = deps;
  const { rawRetentionMs, enrichedRetentionMs: retentionMs } = deps.retention;
  return deps.tables.read(async (analytics) => {
    const { starts, note: planned } = await planStarts(
      { eventLog, registry, analytics, clock, retentionMs, raw: { retentionMs: rawRetentionMs } },
      request,
    );
    const isArchived = archive !== undefined && request.from === 'archive';
    const expired = isArchived && isWhole(request) ? await listExpired(archive, eventLog.logId) : [];
    const all = await listChunks({ analytics, shadow, logId: eventLog.logId }, { starts, expired }, request);
    const chunks = all.filter(({ isExpired }) => !isExpired);
    const gone = all.filter(({ isExpired }) => isExpired).reduce((sum, { records }) => sum + records, 0);
    const note =
      gone > 0 ? `${gone} records have expired in the archive: each gets a row with the outcome expired` : planned;
    const [row] = await analytics.select<{ records: number | string }>(
      `SELECT count() AS records FROM ${shadow.live}.records`,
    );
    const copied = chunks.reduce((sum, { records }) => sum + records, 0);
    const replayed = Number(row?.records ?? 0) - copied;
    const counts = { records_from_archive: 0, records_to_copy: copied, records_to_replay: replayed };
    const plan = { dry_run: true, ...counts, note: note ?? null };
    if (!isArchived) return plan;
    const runs = neededRuns(await listRuns(archive, request), eventLog.logId, starts);
    return { ...plan, ...archivedPlan(runs, chunks) };
  });
}

/**
 * Estimates how many records the replay would copy and read. The numbers are not exact, because repeats in the archive are
 * only found when it is read.
 */
function archivedPlan(
  runs: readonly (ArchiveRun & { readonly records: number })[],
  chunks: readonly CountedChunk[],
): { readonly records_to_copy: number; readonly records_from_archive: number } {
  const keyOf = ({ logId, partition }: { readonly logId: string; readonly partition: number }) =>
    `${logId} ${partition}`;
  const left = new Map<string, number>();
  for (const chunk of chunks) left.set(keyOf(chunk), (left.get(keyOf(chunk)) ?? 0) + chunk.records);
  let archived = 0;
  for (const run of runs) {
    archived += run.records;
    left.set(keyOf(run), Math.max(0, (left.get(keyOf(run)) ?? 0) - run.records));
  }
  return {
    records_to_copy: [...left.values()].reduce((sum, records) => sum + records, 0),
    records_from_archive: archived,
  };
}

/** Returns why a replay from the archive cannot start, or undefined if it can. */
async function archiveProblem({ archive, tables, shadow, eventLog }: AdminDeps): Promise<string | undefined> {
  if (archive === undefined) return NO_ARCHIVE;
  // The archive can have segments with records that the log has lost. Such records must not be read as records of this log.
  try {
    for (const { partition } of await eventLog.positions(TOPIC_ENRICHED, GROUP_ARCHIVER)) {
      await assertNoUnknownSegments(archive, eventLog, { topic: TOPIC_ENRICHED, partition });
    }
  } catch (error) {
    if (!isDependencyError(error, 'event_log_damaged')) throw error;
    return error.message;
  }
  const runs = await listRuns(archive, {});
  const earlier = runs.filter(({ logId }) => logId !== eventLog.logId);
  return tables.read((analytics) => missingRows(analytics, shadow.live, earlier));
}

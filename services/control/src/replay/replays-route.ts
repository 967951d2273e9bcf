import { parseTimestamp, TIMESTAMP_RULE } from '@weir/domain/ingest/timestamp';
import {
  type Replay,
  type ReplayRequest,
  type ReplaySource,
  type ReplayWish,
  UNDO_WITHIN_MS,
} from '@weir/domain/registry/replay';
import type { AdminDeps } from '../control-deps.ts';
import { conflict, created, invalid, notFound, ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest } from '../http/admin-route.ts';
import type { Checked } from '../http/compile-body.ts';
import { readCount } from '../http/query-parameters.ts';
import { randomId } from '../registry/random-id.ts';
import { LIMIT_MAX, readQuery } from '../reports/read-query.ts';
import { listChunks } from './copy-base.ts';
import { replayDiff } from './diff/replay-diff.ts';
import { planStarts } from './plan-replay.ts';
import { replayView } from './replay-view.ts';

interface NewReplay {
  readonly from: ReplaySource;
  readonly since?: string;
  readonly until?: string;
  readonly site_id?: string;
  readonly records_per_second_max?: number;
  readonly dry_run?: boolean;
}

/** Values of each column, unless asked otherwise. */
const DIFF_VALUES = 20;
const NOT_YET = 'the shadow tables do not have all records yet: see weir replay status';
const ERASING = 'an erasure is running: start the replay when it is done';
const SWAPPING = 'the tables are being exchanged: wait until that is done (weir replay status)';
const EXISTS = 'there is a replay already: drop it first (weir replay drop)';

/** Starts a replay, or with `dry_run` says what it would do. The leader does the work: see replay-leader.ts. */
export async function startReplay(deps: AdminDeps, { body }: AdminRequest<NewReplay>): Promise<Reply> {
  const { registry } = deps;
  if ('problem' in body) return invalid(body.problem);
  const read = readRequest(deps, body.value);
  if ('problem' in read) return invalid(read.problem);
  const request = read.value;
  if (request.siteId !== undefined && registry.site(request.siteId) === undefined) return notFound('site');
  if (body.value.dry_run) return ok(await dryRun(deps, request));
  if (registry.replay() !== undefined) return conflict(EXISTS);
  if (registry.erasures().some(({ phase }) => phase !== 'done')) return conflict(ERASING);
  await registry.putReplayRequest(request);
  const first = registry.replay();
  // Another process started one at the same time: the first in the log counts.
  if (first?.request.replayId !== request.replayId) {
    await registry.removeReplay(request.replayId);
    return conflict(EXISTS);
  }
  return created(await replayView(deps, first));
}

export async function readReplay(deps: AdminDeps): Promise<Reply> {
  const replay = deps.registry.replay();
  return replay === undefined ? notFound('replay') : ok(await replayView(deps, replay));
}

/** What the shadow tables have otherwise than the tables. */
export async function diffReplay(deps: AdminDeps, { http }: AdminRequest): Promise<Reply> {
  const { registry, tables, shadow, eventLog } = deps;
  const query = readQuery(http.originalUrl, ['limit']);
  if ('problem' in query) return invalid(query.problem);
  const limit = readCount('limit', query.value.limit, { max: LIMIT_MAX, otherwise: DIFF_VALUES });
  if ('problem' in limit) return invalid(limit.problem);
  const replay = registry.replay();
  if (replay === undefined) return notFound('replay');
  if (replay.state?.phase !== 'follow') return conflict(NOT_YET);
  const { state } = replay;
  return ok(
    await tables.read((analytics) =>
      replayDiff({ analytics, shadow, logId: eventLog.logId }, replay, state, limit.value),
    ),
  );
}

/** Asks the leader to exchange the tables. */
export function swapReplay(deps: AdminDeps): Promise<Reply> {
  return wish(deps, 'swap', ({ state }) => {
    if (state?.phase === 'swapped' || state?.phase === 'undone') return 'the tables were exchanged already';
    return state?.phase === 'follow' ? undefined : NOT_YET;
  });
}

/** Asks the leader to exchange the tables back. */
export function undoReplay(deps: AdminDeps): Promise<Reply> {
  return wish(deps, 'undo', ({ state }) => {
    if (state?.phase !== 'swapped' || state.swapped === undefined) return 'there is no swap to undo';
    return deps.clock() < state.swapped.at + UNDO_WITHIN_MS ? undefined : 'the swap is more than 24 hours old';
  });
}

/** Asks the leader to remove everything of the replay. Done when the replay is not found any more. */
export function dropReplay(deps: AdminDeps): Promise<Reply> {
  return wish(deps, 'drop', ({ state }) => (state?.phase === 'swap' ? SWAPPING : undefined));
}

async function wish(
  deps: AdminDeps,
  wanted: ReplayWish['wish'],
  refusal: (replay: Replay) => string | undefined,
): Promise<Reply> {
  const { registry, clock } = deps;
  const replay = registry.replay();
  if (replay === undefined) return notFound('replay');
  const refused = refusal(replay);
  if (refused !== undefined) return conflict(refused);
  const { replayId } = replay.request;
  const askedAt = Math.max(clock(), (replay.wish?.askedAt ?? 0) + 1, (replay.state?.answered ?? 0) + 1);
  await registry.putReplayWish({ replayId, wish: wanted, askedAt });
  return ok(await replayView(deps, { ...replay, wish: { replayId, wish: wanted, askedAt } }));
}

function readRequest({ clock, randomBytes }: AdminDeps, body: NewReplay): Checked<ReplayRequest> {
  const { since, until, site_id: siteId, records_per_second_max: rate } = body;
  const sinceMs = since === undefined ? undefined : parseTimestamp(since);
  const untilMs = until === undefined ? undefined : parseTimestamp(until);
  if (since !== undefined && sinceMs === undefined) return { problem: `since ${TIMESTAMP_RULE}` };
  if (until !== undefined && untilMs === undefined) return { problem: `until ${TIMESTAMP_RULE}` };
  if (sinceMs !== undefined && untilMs !== undefined && untilMs <= sinceMs) {
    return { problem: 'until must be later than since' };
  }
  return {
    value: {
      replayId: randomId('replay', randomBytes),
      from: body.from,
      startedAt: clock(),
      ...(sinceMs === undefined ? {} : { sinceMs }),
      ...(untilMs === undefined ? {} : { untilMs }),
      ...(siteId === undefined ? {} : { siteId }),
      ...(rate === undefined ? {} : { recordsPerSecondMax: rate }),
    },
  };
}

function dryRun(deps: AdminDeps, request: ReplayRequest) {
  const { eventLog, shadow, clock, enrichedRetentionMs: retentionMs } = deps;
  return deps.tables.read(async (analytics) => {
    const starts = await planStarts({ eventLog, analytics, clock, retentionMs }, request);
    const chunks = await listChunks({ analytics, shadow, logId: eventLog.logId }, starts, request);
    const [row] = await analytics.select<{ records: number | string }>(
      `SELECT count() AS records FROM ${shadow.live}.records`,
    );
    const copied = chunks.reduce((sum, { records }) => sum + records, 0);
    return { dry_run: true, records_to_copy: copied, records_to_replay: Number(row?.records ?? 0) - copied };
  });
}

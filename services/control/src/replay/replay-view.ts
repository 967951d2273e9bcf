import { pendingWish, type Replay, UNDO_WITHIN_MS } from '@weir/domain/registry/replay';
import type { EventLog } from '@weir/ports/event-log';
import { formatTime } from '../format-time.ts';
import type { LagRate } from '../pipeline/lag-rate.ts';
import { fillPositions } from './replay-progress.ts';

export interface ReplayViewDeps {
  readonly eventLog: EventLog;
  readonly lagRateOf: (name: string) => LagRate;
  readonly replayProblem: () => Promise<string | undefined>;
}

/** A replay as the admin API shows it. The number of records to replay grows with live traffic, because it is computed from the log at each call. */
export async function replayView({ eventLog, lagRateOf, replayProblem }: ReplayViewDeps, replay: Replay) {
  const { request, state } = replay;
  const swappedAt = state?.swapped?.at;
  const positions = state === undefined ? [] : await fillPositions(eventLog, replay, state);
  const replayed = positions.reduce((sum, { start, next }) => sum + next - start, 0);
  const toReplay = positions.reduce((sum, { start, end }) => sum + end - start, 0);
  const { recordsCopied = 0, recordsToCopy = 0 } = state ?? {};
  const rate = lagRateOf(`replay ${request.replayId}`).sample(recordsCopied + replayed);
  const left = recordsToCopy - recordsCopied + toReplay - replayed;
  return {
    ...requestView(request),
    started_at: formatTime(request.startedAt),
    phase: state?.phase ?? 'create',
    undoing: state?.undoing ?? false,
    wish: pendingWish(replay) ?? null,
    records_copied: recordsCopied,
    records_to_copy: recordsToCopy,
    records_replayed: replayed,
    records_to_replay: toReplay,
    records_per_second: rate,
    seconds_left: left === 0 ? 0 : rate === 0 ? null : Math.ceil(left / rate),
    problem: (await replayProblem()) ?? null,
    refusal: state?.refusal ?? null,
    swapped_at: swappedAt === undefined ? null : formatTime(swappedAt),
    undo_until: state?.phase === 'swapped' && swappedAt !== undefined ? formatTime(swappedAt + UNDO_WITHIN_MS) : null,
  };
}

function requestView({ replayId, from, sinceMs, untilMs, siteId, recordsPerSecondMax }: Replay['request']) {
  return {
    replay_id: replayId,
    from,
    since: sinceMs === undefined ? null : formatTime(sinceMs),
    until: untilMs === undefined ? null : formatTime(untilMs),
    site_id: siteId ?? null,
    records_per_second_max: recordsPerSecondMax ?? null,
  };
}

import { pauseUnlessAborted } from '@weir/runtime/abortable';
import { type AdminClient, AdminRefusal } from '../admin-client.ts';
import type { CliIo } from '../cli-io.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { createLaterProgress } from '../progress-bar.ts';

export interface ReplayView {
  readonly replay_id: string;
  readonly from: string;
  readonly since: string | null;
  readonly until: string | null;
  readonly site_id: string | null;
  readonly started_at: string;
  readonly phase: string;
  readonly records_copied: number;
  readonly records_to_copy: number;
  readonly records_replayed: number;
  readonly records_to_replay: number;
  readonly records_per_second: number;
  readonly seconds_left: number | null;
  readonly problem: string | null;
  /** The command (`swap`, `undo` or `drop`; see docs/glossary.md) that was requested and has not begun yet. Null if there is none. */
  readonly wish: string | null;
  readonly refusal: string | null;
  readonly swapped_at: string | null;
  readonly undo_until: string | null;
}

export const PHASES: Readonly<Record<string, string>> = {
  create: 'create: the shadow tables are made',
  archive: 'archive: the shadow tables receive the records of the archive',
  copy: 'copy: the records that are not replayed are copied into the shadow tables',
  fill: 'fill: the records are replayed into the shadow tables',
  follow: 'follow: the shadow tables have all records of the live tables, and receive new ones too',
  swap: 'swap: the tables are exchanged',
  swapped: 'swapped: the shadow database has the former tables, until weir replay drop',
  undone: 'undone: the former tables are back; the shadow database has the replayed ones, until weir replay drop',
  drop: 'drop: the shadow tables are removed',
};
/** Only in these phases, the numbers of records change. */
const COUNTING: readonly string[] = ['archive', 'copy', 'fill'];
const LOOK_EVERY_MS = 500;

/**
 * Prints each new phase of a replay, and the progress of its records. Resolves with the replay when `isDone` returns true, with `gone` when the
 * replay was dropped, and with `interrupted` when the signal aborts.
 */
export async function followReplay(
  io: CliIo,
  client: AdminClient,
  started: ReplayView,
  interrupted: AbortSignal,
  isDone: (replay: ReplayView) => boolean,
): Promise<ReplayView | 'gone' | 'interrupted'> {
  const progress = createLaterProgress(io, 'records');
  let phase = '';
  let hasCounted = false;
  let said = '';
  const say = (text: string): void => {
    if (text !== '' && text !== said) progress.say(text);
    said = text;
  };
  try {
    for (;;) {
      await pauseUnlessAborted(LOOK_EVERY_MS, interrupted);
      if (interrupted.aborted) return 'interrupted';
      const replay = await lookAt(client, say);
      if (replay === 'unavailable') continue;
      if (replay === undefined || replay.replay_id !== started.replay_id) return 'gone';
      hasCounted ||= COUNTING.includes(replay.phase);
      if (hasCounted) progress.update(doneOf(replay), totalOf(replay));
      if (isDone(replay)) return replay;
      if (replay.phase !== phase) progress.say(PHASES[replay.phase] ?? replay.phase);
      phase = replay.phase;
      say(replay.problem === null ? '' : `waiting: ${replay.problem}`);
    }
  } finally {
    progress.stop();
  }
}

const totalOf = (replay: ReplayView): number => replay.records_to_copy + replay.records_to_replay;
const doneOf = (replay: ReplayView): number => replay.records_copied + replay.records_replayed;

/**
 * Reads the present state of the replay. Resolves with undefined if the replay was dropped, and with `unavailable` if Weir cannot be
 * reached. Weir may be restarting then, and continues the replay afterwards.
 */
async function lookAt(
  client: AdminClient,
  say: (text: string) => void,
): Promise<ReplayView | 'unavailable' | undefined> {
  try {
    return await client.call<ReplayView>('GET', '/replays/current');
  } catch (error) {
    if (error instanceof AdminRefusal && error.status === 404) return undefined;
    if (!(error instanceof CliError) || error.exitCode !== EXIT.unreachable) throw error;
    say(`waiting: ${error.message}`);
    return 'unavailable';
  }
}

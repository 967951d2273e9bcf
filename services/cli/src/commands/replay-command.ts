import { type Command, Option } from 'commander';
import { LONG_CALL_TIMEOUT_MS } from '../admin-client.ts';
import { type CommandContext, groupOf, withExamples } from '../command-context.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { fields, print } from '../output.ts';
import { readWholeNumber } from '../read-whole-number.ts';
import { followReplay, PHASES, type ReplayView } from '../replay/follow-replay.ts';
import { humanDiff } from '../replay/human-diff.ts';
import { waitForDiff } from '../replay/wait-for-diff.ts';

interface StartOptions {
  readonly json?: boolean;
  readonly from: string;
  readonly since?: string;
  readonly until?: string;
  readonly site?: string;
  readonly rate?: number;
  readonly dryRun?: boolean;
}

interface PlanView {
  readonly records_from_archive: number;
  readonly records_to_copy: number;
  readonly records_to_replay: number;
  readonly note: string | null;
}

const EXCHANGES = [
  {
    name: 'swap',
    done: 'swapped',
    description: 'exchange the tables and the shadow tables; no record is lost or doubled',
  },
  {
    name: 'undo',
    done: 'undone',
    description: 'exchange the tables back, within 24 hours; records that were stored since the swap are kept',
  },
] as const;

/** In these phases, the replay has stored all records. `follow` is the first of them, but it can end before this command requests the phase. */
const COMPLETE_IN = ['follow', 'swap', 'swapped', 'undone'];

const CURRENT = '/replays/current';

export function addReplayCommands(program: Command, { io, client, exitWith }: CommandContext): void {
  function goesOn(): void {
    io.stderr.write('The replay goes on without this command: see weir replay status.\n');
    exitWith(EXIT.interrupted);
  }

  /** Shows the progress. Resolves with the replay when `isDone` returns true, or with undefined if the command was interrupted. */
  async function follow(
    started: ReplayView,
    interrupted: AbortSignal,
    isDone: (replay: ReplayView) => boolean,
  ): Promise<ReplayView | undefined> {
    const followed = await followReplay(io, client(), started, interrupted, isDone);
    if (followed === 'gone') throw new CliError('the replay was dropped');
    if (followed !== 'interrupted') return followed;
    goesOn();
    return undefined;
  }

  const replay = groupOf(
    program,
    'replay',
    'fill the tables again from the event log, beside the live tables',
    'weir replay start --from enriched',
    'weir replay status',
    'weir replay diff',
    'weir replay swap',
    'weir replay undo',
    'weir replay drop',
  );

  withExamples(
    replay.command('start').description('start a replay, and show its progress until it has all records of the tables'),
    'weir replay start --from enriched',
    'weir replay start --from enriched --site shop --since 2026-03-01 --until 2026-03-08T12:00:00Z',
    'weir replay start --from enriched --rate 5000 --dry-run',
    'weir replay start --from archive',
    'weir replay start --from raw',
  )
    .addOption(
      new Option(
        '--from <source>',
        'enriched: the rows of events.enriched, unchanged; archive: also the rows that this topic no longer has, from ARCHIVE_URL; raw: the records of events.raw, enriched again; tables: all rows of the tables, unchanged',
      )
        .choices(['enriched', 'archive', 'raw', 'tables'])
        .makeOptionMandatory(),
    )
    .option('--since <time>', 'replace only records that were received at this time or later (ISO 8601, UTC)')
    .option('--until <time>', 'replace only records that were received before this time')
    .option('-s, --site <site_id>', 'replace only the records of this site')
    .option(
      '--rate <records>',
      'maximum records per second; default: as many as live traffic allows',
      readWholeNumber(9_999_999_999),
    )
    .option('--dry-run', 'only count the records; start nothing')
    .action(async ({ json, from, since, until, site, rate, dryRun }: StartOptions) => {
      const body = { from, since, until, site_id: site, records_per_second_max: rate, dry_run: dryRun };
      if (dryRun) {
        print(
          io,
          json,
          await client().call<PlanView>('POST', '/replays', body, LONG_CALL_TIMEOUT_MS),
          ({ records_from_archive, records_to_copy, records_to_replay, note }) =>
            fields({
              'records to replay': records_to_replay,
              ...(from === 'archive' ? { 'records of the archive': records_from_archive } : {}),
              'records to copy': records_to_copy,
              ...(note === null ? {} : { note }),
            }),
        );
        return;
      }
      const interrupted = io.interruption();
      const started = await client().call<ReplayView>('POST', '/replays', body, LONG_CALL_TIMEOUT_MS);
      const followed = await follow(started, interrupted, ({ phase }) => COMPLETE_IN.includes(phase));
      if (followed !== undefined) print(io, json, followed, humanReplay);
    });

  withExamples(
    replay.command('status').description('print the phase and the progress of the replay'),
    'weir replay status',
    'weir replay status --json',
  ).action(async ({ json }: { json?: boolean }) => {
    print(io, json, await client().call<ReplayView>('GET', CURRENT), humanReplay);
  });

  withExamples(
    replay.command('diff').description('print how the shadow tables differ from the live tables'),
    'weir replay diff',
    'weir replay diff --limit 100 --json',
  )
    .option('--limit <values>', 'number of changed values to print for each column; default: 20')
    .action(async ({ json, limit }: { json?: boolean; limit?: string }) => {
      const query = limit === undefined ? '' : `?limit=${encodeURIComponent(limit)}`;
      print(io, json, await waitForDiff(io, client(), `${CURRENT}/diff${query}`), humanDiff);
    });

  for (const { name, done, description } of EXCHANGES) {
    withExamples(replay.command(name).description(description), `weir replay ${name}`).action(
      async ({ json }: { json?: boolean }) => {
        const interrupted = io.interruption();
        const asked = await client().call<ReplayView>('POST', `${CURRENT}/${name}`);
        const after = await follow(
          asked,
          interrupted,
          ({ phase, wish, refusal }) => phase === done || (wish === null && refusal !== null),
        );
        if (after === undefined) return;
        if (after.phase !== done) throw new CliError(`the tables were not exchanged: ${after.refusal}`);
        print(io, json, after, humanReplay);
      },
    );
  }

  withExamples(
    replay
      .command('drop')
      .description('end the replay and remove its shadow tables; after a swap they are the former tables'),
    'weir replay drop',
  ).action(async ({ json }: { json?: boolean }) => {
    const interrupted = io.interruption();
    const dropped = await client().call<ReplayView>('DELETE', CURRENT);
    const left = await followReplay(io, client(), dropped, interrupted, () => false);
    if (left === 'interrupted') return goesOn();
    print(io, json, dropped, ({ replay_id }) => `dropped ${replay_id}`);
  });
}

function humanReplay(replay: ReplayView): string {
  const { since, until, site_id: site, seconds_left: left } = replay;
  return fields({
    replay: replay.replay_id,
    from: replay.from,
    ...(since === null ? {} : { since }),
    ...(until === null ? {} : { until }),
    ...(site === null ? {} : { site }),
    'started at': replay.started_at,
    phase: PHASES[replay.phase] ?? replay.phase,
    copied: `${replay.records_copied} of ${replay.records_to_copy} records`,
    replayed: `${replay.records_replayed} of ${replay.records_to_replay} records`,
    'records/s': replay.records_per_second,
    'time left': left === null ? 'not known yet' : `${left} s`,
    problem: replay.problem ?? 'none',
    ...(replay.refusal === null ? {} : { 'not swapped': replay.refusal }),
    ...(replay.swapped_at === null
      ? {}
      : { [replay.phase === 'undone' ? 'undone at' : 'swapped at']: replay.swapped_at }),
    ...(replay.undo_until === null ? {} : { 'undo until': replay.undo_until }),
  });
}

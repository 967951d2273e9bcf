import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import type { AdminClient } from '../admin-client.ts';
import type { CliIo } from '../cli-io.ts';
import {
  apiPath,
  type CommandContext,
  confirmRemoval,
  siteOption,
  sitePath,
  withExamples,
  yesOption,
} from '../command-context.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { fields, print, table } from '../output.ts';
import { patientCall } from '../patient-call.ts';

interface ForgetOptions {
  readonly json?: boolean;
  readonly site: string;
  readonly visitor?: readonly string[];
  readonly user?: readonly string[];
  readonly visitorFile?: string;
  readonly userFile?: string;
  readonly all?: boolean;
  readonly yes?: boolean;
}

interface ErasureView {
  readonly erasure_id: string;
  readonly site_id: string;
  readonly received_until: string;
  readonly phase: 'waiting' | 'resolving' | 'deleting' | 'archive' | 'done';
  readonly problem: string | null;
  readonly finished_at: string | null;
  readonly removed: Readonly<Record<string, number>>;
  readonly archive: {
    readonly segments: number;
    readonly rewritten: number;
    readonly records: Readonly<Record<string, number>>;
  } | null;
  readonly remains: readonly { readonly where: string; readonly until: string | null }[];
}

interface ErasedListView {
  readonly tombstones: readonly {
    readonly erasureId: string;
    readonly siteId: string;
    readonly at: number;
    readonly whole: boolean;
    readonly entries: readonly string[];
  }[];
}

const POLL_MS = 500;
const NOTES = `
The command prints a receipt: what was removed where, and what remains until when. Ctrl-C does not stop the erasure: Weir continues it,
even after a crash. weir forget --receipt <erasure_id> shows the receipt again. Records that are received after the call are stored as usual.
A user's devices and payment customers are forgotten with the user. A file has one ID per line, without white space around it. One call can name up to 10,000 persons.`;

export function addForgetCommand(program: Command, { io, client }: CommandContext): void {
  const command = program.command('forget').description('erase persons, or all records that a site has so far');
  withExamples(
    command,
    'weir forget --site shop --user 42',
    'weir forget --site shop --visitor v_1 --visitor v_2',
    'weir forget --site shop --user-file users.txt --json',
    'weir forget --site shop --all',
    'weir forget --receipt erasure_abcdefghijkm',
    'weir forget --list --json > erased.json',
  )
    .addOption(siteOption().makeOptionMandatory(false))
    .option('-v, --visitor <visitor_id...>', 'visitors')
    .option('-u, --user <user_id...>', 'users')
    .option('--visitor-file <file>', 'visitors, one per line')
    .option('--user-file <file>', 'users, one per line')
    .option('--all', 'erase all records that the site has so far')
    .addOption(yesOption())
    .option('--receipt <erasure_id>', 'follow an erasure, and show its receipt')
    .option('--list', 'list all erasures; with --json, as salted hashes for weir backup restore --erased')
    .addHelpText('after', NOTES)
    .action(async (options: ForgetOptions & { readonly receipt?: string; readonly list?: boolean }) => {
      const admin = client();
      if (options.list === true) {
        print(io, options.json, await admin.call<ErasedListView>('GET', '/tombstones'), erasedList);
        return;
      }
      const begun = options.receipt ?? (await begin(io, admin, options)).erasure_id;
      print(io, options.json, await follow(io, admin, begun), receipt);
    });
}

async function begin(io: CliIo, admin: AdminClient, options: ForgetOptions): Promise<ErasureView> {
  const { site, visitor = [], user = [], visitorFile, userFile, all, yes } = options;
  const visitors = [...visitor, ...linesOf(visitorFile)];
  const users = [...user, ...linesOf(userFile)];
  if (site === undefined) throw new CliError('name the site: --site <site_id>', EXIT.usage);
  if (all !== true && visitors.length + users.length === 0) {
    throw new CliError('name visitors or users, or give --all: see weir forget --help', EXIT.usage);
  }
  if (all === true) await confirmRemoval(io, site, `This erases all records that ${site} has so far.`, yes);
  return admin.call<ErasureView>('POST', sitePath(site, 'erasures'), { visitors, users, ...(all && { all }) });
}

function linesOf(file: string | undefined): readonly string[] {
  if (file === undefined) return [];
  const lines = textOf(file).split(/\r?\n/);
  // White space is part of an ID, so the ID of such a line is probably another one than that of the person. Nothing would be erased, without an error.
  const padded = lines.findIndex((line) => line.trim() !== '' && line.trim() !== line);
  if (padded >= 0) {
    const advice = 'remove the white space, or, if it is part of the ID, name this ID with --user or --visitor';
    throw new CliError(`line ${padded + 1} of ${file} begins or ends with white space: ${advice}`, EXIT.usage);
  }
  return lines.filter((line) => line.trim() !== '');
}

function textOf(file: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw new CliError(`cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`, EXIT.usage);
  }
  try {
    // TextDecoder removes a byte-order mark, which would otherwise become part of the first ID.
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new CliError(`${file} is not UTF-8 text: save it as UTF-8`, EXIT.usage);
  }
}

/** Resolves when the erasure is done. */
async function follow(io: CliIo, admin: AdminClient, erasureId: string): Promise<ErasureView> {
  const interrupted = io.interruption();
  const path = apiPath('erasures', erasureId);
  let shown = '';
  const say = (state: string): void => {
    if (state !== shown) io.stderr.write(`${erasureId}: ${state}\n`);
    shown = state;
  };
  const stopped = (): CliError =>
    new CliError(`interrupted; Weir goes on: weir forget --receipt ${erasureId} shows the rest`, EXIT.interrupted);
  for (;;) {
    const view = await patientCall(() => admin.call<ErasureView>('GET', path), {
      clock: io.clock,
      onWait: (reason) => say(`waiting: ${reason}`),
      interrupted,
      stopped,
    });
    if (view.phase === 'done') return view;
    say(`${view.phase}${view.problem === null ? '' : `: ${view.problem}`}`);
    if (interrupted.aborted) throw stopped();
    await pause(POLL_MS);
  }
}

function erasedList({ tombstones }: ErasedListView): string {
  return table(
    ['erasure_id', 'site_id', 'received until', 'hashes'],
    tombstones.map(({ erasureId, siteId, at, whole, entries }) => [
      erasureId,
      siteId,
      new Date(at).toISOString(),
      whole ? 'the whole site' : entries.length,
    ]),
    'nothing was erased',
  );
}

function receipt({ removed, archive, remains, ...view }: ErasureView): string {
  const { erasure_id, site_id, received_until, finished_at } = view;
  const archived = Object.entries(archive?.records ?? {}).map(
    ([topic, records]) => [`archive: ${topic}`, records] as const,
  );
  return [
    fields({ erasure_id, site_id, 'received until': received_until, 'finished at': finished_at }),
    '',
    table(['removed from', 'rows'], [...Object.entries(removed), ...archived]),
    '',
    table(
      ['remains in', 'until'],
      remains.map(({ where, until }) => [where, until ?? 'you remove it']),
    ),
  ].join('\n');
}

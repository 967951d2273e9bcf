import { type Command, InvalidArgumentError } from 'commander';
import { apiPath, type CommandContext, groupOf, withExamples } from '../command-context.ts';
import { CliError, EXIT } from '../exit-codes.ts';
import { fields, print, table } from '../output.ts';
import { patientCall } from '../patient-call.ts';
import { createProgress } from '../progress-bar.ts';
import { readWholeNumber } from '../read-whole-number.ts';

interface LetterView {
  readonly letter_id: string;
  readonly site_id: string;
  readonly stage: string;
  readonly reason: string;
  readonly error: string;
  readonly failed_at: string;
  readonly attempts: number;
}

interface LettersView {
  readonly total: number;
  readonly letters: readonly LetterView[];
  readonly cursor: string | null;
}

interface ShownLetter extends LetterView {
  readonly log_id: string;
  readonly partition: number;
  readonly offset: number;
  readonly redriven_at: string | null;
  readonly payload: string;
  readonly redrive_problem: string | null;
}

interface LetterResult {
  readonly letter_id: string;
  readonly result: string;
  readonly problem: string | null;
}

interface RedriveView {
  readonly dry_run: boolean;
  readonly total: number;
  readonly results: readonly LetterResult[];
  readonly cursor: string | null;
}

type Filter = Readonly<Record<string, string>>;

const FIELDS = ['site', 'stage', 'reason', 'error', 'since', 'until'] as const;
const WHERE =
  'only those that match; repeat it for several conditions. Fields: site, stage (enricher, writer), reason ' +
  '(unreadable, step_failed, row_refused), error (a text that it contains), since and until (2h, 3d, or an ISO 8601 time)';
/** The number of dead letters in one call. The admin API accepts up to 500, but smaller calls show the progress more often. */
const PAGE_LETTERS = 100;
const LIST_DEFAULT = 50;
/** The results that make the exit code 1: the dead letter stays in the list, or (`not_found`) there is no such dead letter. */
const STAYS = ['dead', 'refused', 'pending', 'not_found'];

export function addDeadLetterCommands(program: Command, context: CommandContext): void {
  const { io, client } = context;
  const letters = groupOf(
    program,
    'dead-letters',
    'look at the records that could not be processed, and process them again',
    'weir dead-letters list',
    'weir dead-letters redrive --where stage=writer',
  );

  withExamples(
    letters.command('list').description('list the dead letters, in the order of the log'),
    'weir dead-letters list --where site=shop --where since=2h',
    'weir dead-letters list --where "error=no place" --limit 500 --json',
  )
    .option('-w, --where <field=value>', WHERE, addCondition)
    .option('-n, --limit <count>', `the most to list; default: ${LIST_DEFAULT}`, readWholeNumber(999_999))
    .action(async ({ json, where = {}, limit = LIST_DEFAULT }: ListOptions) => {
      print(io, json, await list(context, where, limit), humanLetters);
    });

  withExamples(
    letters
      .command('show <letter_id>')
      .description('print a dead letter with its payload, and whether it can be redriven'),
    'weir dead-letters show 8d3e1f0a.0.1204',
  ).action(async (letterId: string, { json }: { json?: boolean }) => {
    const letter = await client().call<ShownLetter>('GET', apiPath('dead-letters', letterId));
    print(io, json, letter, humanLetter);
  });

  withExamples(
    letters
      .command('redrive [letter_id...]')
      .description(
        'process the records of dead letters again, each exactly once; exit code 1 if one of them stays a dead letter. It can be repeated after an interruption',
      ),
    'weir dead-letters redrive 8d3e1f0a.0.1204',
    'weir dead-letters redrive --where stage=enricher --where site=shop --dry-run',
    'weir dead-letters redrive --all',
  )
    .option('-w, --where <field=value>', WHERE, addCondition)
    .option('--all', 'all dead letters')
    .option('--dry-run', 'only show which ones can be redriven')
    .action((ids: readonly string[], options: RedriveOptions) => redrive(context, ids, options));
}

interface ListOptions {
  readonly json?: boolean;
  readonly where?: Filter;
  readonly limit?: number;
}

interface RedriveOptions {
  readonly json?: boolean;
  readonly where?: Filter;
  readonly all?: boolean;
  readonly dryRun?: boolean;
}

async function list({ client }: CommandContext, where: Filter, limit: number): Promise<LettersView> {
  const admin = client();
  const found: LetterView[] = [];
  let total = 0;
  let cursor: string | null = null;
  do {
    const page = {
      limit: String(Math.min(limit - found.length, PAGE_LETTERS)),
      ...(cursor !== null && { after: cursor }),
    };
    const answer: LettersView = await admin.call('GET', `/dead-letters?${new URLSearchParams({ ...where, ...page })}`);
    found.push(...answer.letters);
    ({ total, cursor } = answer);
  } while (cursor !== null && found.length < limit);
  return { total, letters: found, cursor };
}

async function redrive(context: CommandContext, ids: readonly string[], options: RedriveOptions): Promise<void> {
  const { io, client, exitWith } = context;
  const { where, all = false, dryRun = false } = options;
  if ([ids.length > 0, where !== undefined, all].filter(Boolean).length !== 1) {
    throw new CliError('say which dead letters: give either their IDs, or --where, or --all', EXIT.usage);
  }
  const admin = client();
  const interrupted = io.interruption();
  const results: LetterResult[] = [];
  let progress: ReturnType<typeof createProgress> | undefined;
  const ask = async (body: object): Promise<RedriveView> => {
    const call = () => admin.call<RedriveView>('POST', '/dead-letters/redrive', { ...body, dry_run: dryRun });
    const onWait = (reason: string): unknown => io.stderr.write(`weir: ${reason}\n`);
    const answer = await patientCall(call, { clock: io.clock, onWait, interrupted });
    progress ??= createProgress(io, 'dead letters', ids.length === 0 ? answer.total : ids.length, 0);
    results.push(...answer.results);
    progress.update(results.length);
    return answer;
  };
  try {
    for (let first = 0; first < ids.length && !interrupted.aborted; first += PAGE_LETTERS) {
      await ask({ letters: ids.slice(first, first + PAGE_LETTERS) });
    }
    for (let after: string | null | undefined; ids.length === 0 && after !== null && !interrupted.aborted; ) {
      ({ cursor: after } = await ask({ ...where, limit: PAGE_LETTERS, ...(after !== undefined && { after }) }));
    }
  } finally {
    progress?.stop();
  }
  print(io, options.json, { dry_run: dryRun, results }, humanResults);
  if (interrupted.aborted) exitWith(EXIT.interrupted);
  else if (results.some(({ result }) => STAYS.includes(result))) exitWith(EXIT.failed);
}

function humanLetters({ total, letters }: LettersView): string {
  const heads = ['letter', 'site', 'stage', 'reason', 'failed at', 'attempts', 'error'];
  const rows = letters.map((row) => [
    ...[row.letter_id, row.site_id, row.stage, row.reason, row.failed_at, row.attempts],
    row.error.length > 100 ? `${row.error.slice(0, 99)}…` : row.error,
  ]);
  const more = total > letters.length ? `\n${letters.length} of ${total}: --limit prints more` : '';
  return `${table(heads, rows, 'no dead letters')}${more}`;
}

function humanLetter({ payload, ...letter }: ShownLetter): string {
  return `${fields({ ...letter })}\n\n${plain(payload)}`;
}

function humanResults({
  dry_run: dryRun,
  results,
}: {
  readonly dry_run: boolean;
  readonly results: readonly LetterResult[];
}) {
  if (results.length === 0) return 'no dead letters match';
  const counts = new Map<string, number>();
  for (const { result } of results) counts.set(result, (counts.get(result) ?? 0) + 1);
  const summary = [...counts].map(([result, count]) => `${count} ${result.replaceAll('_', ' ')}`).join(', ');
  const told = results.filter(({ problem }) => problem !== null);
  const rows = told.map(({ letter_id, result, problem }) => [letter_id, result, problem]);
  const problems = rows.length === 0 ? '' : `${table(['letter', 'result', 'why'], rows)}\n\n`;
  return `${problems}${results.length} dead letters${dryRun ? ' (dry run)' : ''}: ${summary}`;
}

/** Control characters become spaces, because stored data must not control the terminal. */
function plain(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ');
}

function addCondition(text: string, earlier: Filter = {}): Filter {
  const at = text.indexOf('=');
  const field = text.slice(0, Math.max(0, at));
  const value = text.slice(at + 1);
  if (!(FIELDS as readonly string[]).includes(field) || value === '') {
    throw new InvalidArgumentError(`it must be field=value, with one of the fields ${FIELDS.join(', ')}.`);
  }
  if (field in earlier) throw new InvalidArgumentError(`${field} is given twice.`);
  return { ...earlier, [field]: value };
}

import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@weir/testkit/eventually';
import type { WeirProcess } from '@weir/testkit/weir-process';

interface MigrationKills {
  readonly weir: WeirProcess;
  /** The path of the program whose start migrates the data folder. `weir` must be stopped before the call of `killMigrations`. */
  readonly program: string;
  readonly kills: number;
  readonly random: () => number;
  acknowledged(): number;
}

interface KilledMigrations {
  /** For each kill, the migration that was running, and what was killed. */
  readonly killed: readonly string[];
  /** The number of records that Weir acknowledged between the start of the first migration and the last kill. */
  readonly acknowledgedMeanwhile: number;
}

const STEP_WITHIN_MS = 180_000;
/** Each kill comes at most this long after the migration began or continued. */
const KILL_WITHIN_MS = 400;
const POLL_MS = 5;
const LOG_CHARS = 4_000;

interface Step {
  readonly migration: string;
  readonly number: number;
  readonly of: number;
}

/**
 * Starts Weir and kills it several times while it migrates the tables. A kill ends all processes of Weir, or only the ClickHouse process. The kills
 * are spread over the pending migrations, so that each kill finds a running migration. Resolves when Weir runs again. Rejects if the migrations
 * ended before the last kill.
 */
export async function killMigrations(options: MigrationKills): Promise<KilledMigrations> {
  const { weir, program, kills, random, acknowledged } = options;
  const killed: string[] = [];
  let acknowledgedBefore: number | undefined;
  let acknowledgedMeanwhile = 0;
  const firstFrom = weir.output().length;
  /**
   * The number of migrations that have started. Searches the log lines of all starts since the call of this function, because a line of a killed
   * process can arrive after the kill.
   */
  const begunSoFar = (): number =>
    new Set(stepsIn(weir.output().slice(firstFrom)).map(({ migration }) => migration)).size;
  let total = 0;
  let starting: Promise<unknown> | undefined;
  for (let kill = 0; kill < kills; kill++) {
    const from = weir.output().length;
    starting ??= weir.restart(program).catch((error: unknown) => error);
    const steps = () => stepsIn(weir.output().slice(from));
    const begun = await seenIn(
      weir,
      'a migration to begin',
      () => steps().at(-1) ?? (weir.output().slice(from).includes('"msg":"ready"') ? 'ready' : undefined),
    );
    if (begun === 'ready') throw new Error(`the migrations ended before kill ${kill + 1}: ${killed.join(', ')}`);
    acknowledgedBefore ??= acknowledged();
    total = Math.max(total, begun.of);
    // The kill must happen when at most this number of migrations have started. Otherwise too few migrations could remain for the next kills.
    const most = Math.max(1, Math.floor((total * (kill + 1)) / (kills + 1)));
    const before = begunSoFar();
    const wanted = Math.min(most, Math.max(1, before) + Math.floor(random() * (most - before + 1)));
    await seenIn(weir, `migration ${wanted} of ${total}`, () => begunSoFar() >= wanted);
    const deadline = Date.now() + random() * KILL_WITHIN_MS;
    while (Date.now() < deadline && begunSoFar() <= most) await pause(POLL_MS); // the kill happens at a random moment
    const now = steps().at(-1) ?? begun;
    acknowledgedMeanwhile = acknowledged() - acknowledgedBefore;
    const onlyClickhouse = kill % 2 === 1;
    killed.push(`${now.migration.slice(0, 3)} ${onlyClickhouse ? 'ClickHouse' : 'all'}`);
    if (onlyClickhouse) {
      weir.killClickhouse();
    } else {
      await weir.kill9();
      await starting;
      starting = undefined;
    }
  }
  if (starting === undefined) await weir.restart(program);
  else if ((await starting) instanceof Error) throw await starting;
  return { killed, acknowledgedMeanwhile };
}

/** Like `eventually`, but its error contains the end of Weir's log: the start of Weir may have failed. */
async function seenIn<T>(weir: WeirProcess, what: string, probe: () => T | undefined | false): Promise<T> {
  try {
    return await eventually(what, probe, STEP_WITHIN_MS);
  } catch (error) {
    throw new Error(`${(error as Error).message}; the end of the log:\n${weir.output().slice(-LOG_CHARS)}`, {
      cause: error,
    });
  }
}

function stepsIn(output: string): readonly Step[] {
  return output
    .split('\n')
    .filter((line) => line.endsWith('"msg":"migrating the tables"}'))
    .map((line) => JSON.parse(line) as Step);
}

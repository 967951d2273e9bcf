import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@weir/testkit/eventually';
import type { Load } from '@weir/testkit/load';
import type { WeirProcess } from '@weir/testkit/weir-process';
import { tableDigests } from '../../packages/adapters/test/clickhouse/table-digests.ts';
import { expectExactlyOnce, faultRandom, say } from './exactly-once.ts';

/** The number of kills in each test of replays. Each step of a replay has at most one kill. A test of rebuilds has one kill more. */
export const REPLAY_KILLS = Number(process.env.WEIR_REPLAY_KILLS ?? 3);
export const KILLS_TIMEOUT_MS = 900_000 + REPLAY_KILLS * 120_000;

const STEP_WITHIN_MS = 600_000;
const KILL_WITHIN_MS = 3_000;
const REFUSALS_MAX = 10;

export interface ReplayKills {
  readonly weir: Pick<WeirProcess, 'client' | 'url'>;
  readonly from: 'enriched' | 'raw';
  readonly load: Load;
  readonly site: string;
  /** Kills one or more processes. Resolves with their names when they run again. */
  kill(random: () => number): Promise<string>;
}

interface Replay {
  readonly phase: string;
  readonly problem: string | null;
  readonly refusal: string | null;
  readonly wish: string | null;
}

/** The phase of a replay after its tables have been exchanged by a swap or an undo. */
const EXCHANGED = { swap: 'swapped', undo: 'undone' } as const;
/** Every fourth replay is dropped without a swap, during or soon after the filling of the shadow tables (docs/glossary.md). */
const DROPPED_EARLY_EVERY = 4;

/**
 * Runs replays under load until there were `REPLAY_KILLS` kills. A replay has the steps start, diff, swap, sometimes undo, and drop, or only start
 * and drop. Processes are killed at one random moment of each step. Finally stops the load, and compares all tables with those of replays without
 * kills.
 */
export async function killReplays({ weir, from, load, site, kill }: ReplayKills): Promise<void> {
  const { client } = weir;
  const random = faultRandom(`replay from ${from}, WEIR_REPLAY_KILLS=${REPLAY_KILLS}`);
  const killed: string[] = [];
  let refusals = 0;

  async function current(): Promise<Replay | undefined> {
    const { status, json, text } = await client.admin('GET', '/replays/current');
    if (status === 404) return undefined;
    if (status !== 200) throw new Error(text);
    return (json as { readonly data: Replay }).data;
  }

  /**
   * Sends a command, and repeats it while a process restarts. A command whose answer was lost may already have taken effect. Weir then refuses
   * the repeat, and `isInForce` must be true.
   */
  const order = (
    method: string,
    path: string,
    isInForce: (replay: Replay | undefined) => boolean,
    body?: object,
  ): Promise<boolean> =>
    eventually(
      `${method} ${path}`,
      async () => {
        const { status, text } = await client.admin(method, path, body);
        if (status === 200 || status === 201) return true;
        if ((status === 404 || status === 409) && isInForce(await current())) return true;
        throw new Error(`${status} ${text}`);
      },
      STEP_WITHIN_MS,
    );
  const start = (source: string) => order('POST', '/replays', (replay) => replay !== undefined, { from: source });
  const exchange = (command: 'swap' | 'undo') =>
    order(
      'POST',
      `/replays/current/${command}`,
      (replay) => replay?.wish === command || replay?.phase === 'swap' || replay?.phase === EXCHANGED[command],
    );

  async function killDuring(step: string): Promise<void> {
    if (killed.length >= REPLAY_KILLS) return;
    await pause(random() * KILL_WITHIN_MS); // the fault happens at a random moment, so the pause is part of the test
    killed.push(`${step}: ${await kill(random)}`);
    say(`replay from ${from}: kill ${killed.length}: ${killed.at(-1)}`);
  }

  /**
   * Waits until the replay has this phase. If Weir refuses `command`, sends it again: a kill during a swap can end the pause of the writers, and
   * Weir then refuses the swap.
   */
  const reaches = (phase: string, command?: 'swap' | 'undo'): Promise<boolean> =>
    eventually(
      `the phase ${phase}`,
      async () => {
        const replay = await current();
        if (replay?.phase === phase) return true;
        const text = JSON.stringify(replay);
        if (replay === undefined || replay.refusal === null || replay.wish !== null || replay.phase === 'swap') {
          throw new Error(text);
        }
        if (command === undefined || refusals === REFUSALS_MAX) throw new Error(replay.refusal);
        say(`replay from ${from}: ${command} refused: ${replay.refusal}`);
        refusals++;
        await client.admin('POST', `/replays/current/${command}`);
        throw new Error(text);
      },
      STEP_WITHIN_MS,
    );

  const changes = (): Promise<readonly unknown[]> =>
    eventually(
      'a diff',
      async () => {
        const { status, json, text } = await client.admin('GET', '/replays/current/diff');
        if (status !== 200) throw new Error(text);
        return (json as { readonly data: { readonly changes: readonly unknown[] } }).data.changes;
      },
      STEP_WITHIN_MS,
    );

  async function drop(): Promise<void> {
    await order('DELETE', '/replays/current', (replay) => replay === undefined);
    await killDuring('drop');
    await eventually('no replay', async () => (await current()) === undefined, STEP_WITHIN_MS);
  }

  for (let round = 0; round === 0 || killed.length < REPLAY_KILLS; round++) {
    await start(from);
    await killDuring('start');
    if (round % DROPPED_EARLY_EVERY === DROPPED_EARLY_EVERY - 1) {
      await drop();
      continue;
    }
    await reaches('follow');
    const interrupted = client.admin('GET', '/replays/current/diff').catch(() => undefined);
    await killDuring('diff');
    await interrupted;
    expect(await changes()).toEqual([]);
    await exchange('swap');
    await killDuring('swap');
    await reaches(EXCHANGED.swap, 'swap');
    // An undo makes the former tables live again. At the end, the test of replays from raw needs live tables that a replay from raw has filled.
    // Therefore this test undoes only some of its replays, and never the last ones.
    if (from === 'enriched' || (round % 2 === 1 && killed.length + 2 < REPLAY_KILLS)) {
      await exchange('undo');
      await killDuring('undo');
      await reaches(EXCHANGED.undo, 'undo');
    }
    await drop();
  }
  await load.stop();
  await expectExactlyOnce(weir, site, load);
  const digests = (database: string) => tableDigests((query) => client.sql(query), database);
  for (const again of from === 'raw' ? ['enriched', 'raw'] : ['enriched']) {
    await start(again);
    await reaches('follow');
    expect(await digests('weir_shadow')).toEqual(await digests('weir'));
    await drop();
  }
  say(
    `replay from ${from}: ${killed.length} kills, ${refusals} refusals, ${load.acknowledgedKeys.size} events, ` +
      `${load.retries()} retries; ${countsOf(killed)}`,
  );
}

function countsOf(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => `${name} ${count}`).join(', ');
}

import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@weir/testkit/eventually';
import { type Load, seededRandom } from '@weir/testkit/load';
import type { WeirProcess } from '@weir/testkit/weir-process';
import { tableDigests } from '../../packages/adapters/test/clickhouse/table-digests.ts';
import { expectExactlyOnce, say } from './exactly-once.ts';

/** The kills in each test of this kind: one in each step of a replay, or as many as the environment variable says. */
export const REPLAY_KILLS = Number(process.env.WEIR_REPLAY_KILLS ?? 4);
export const KILLS_TIMEOUT_MS = 900_000 + REPLAY_KILLS * 120_000;

const STEP_WITHIN_MS = 180_000;
const KILL_WITHIN_MS = 3_000;
const REFUSALS_MAX = 10;

export interface ReplayKills {
  readonly weir: Pick<WeirProcess, 'client' | 'url'>;
  readonly from: 'enriched' | 'raw';
  readonly load: Load;
  readonly site: string;
  /** Kills one or more processes. Resolves when they run again. Returns their names. */
  kill(random: () => number): Promise<string>;
}

interface Replay {
  readonly phase: string;
  readonly problem: string | null;
  readonly refusal: string | null;
  readonly wish: string | null;
}

/**
 * Runs replays under load, each with the steps start, diff, swap and sometimes undo, and kills processes at one random moment of each step
 * until there were `REPLAY_KILLS` kills. Then it stops the load, and compares all tables with those of replays that were not disturbed.
 */
export async function killReplays({ weir, from, load, site, kill }: ReplayKills): Promise<void> {
  const { client } = weir;
  const seed = Number(process.env.WEIR_FAULT_SEED ?? Date.now() % 1_000_000);
  say(`replay from ${from}: WEIR_REPLAY_KILLS=${REPLAY_KILLS} WEIR_FAULT_SEED=${seed}`);
  const random = seededRandom(seed);
  const killed: string[] = [];
  let refusals = 0;

  /** Sends a request to the admin API, and repeats it while a process restarts. */
  const ask = (method: string, path: string, status: number, body?: object): Promise<unknown> =>
    eventually(
      `${method} ${path}`,
      async () => {
        const answer = await client.admin(method, path, body);
        if (answer.status !== status) throw new Error(`${answer.status} ${answer.text}`);
        return answer.json ?? true;
      },
      STEP_WITHIN_MS,
    );

  async function killDuring(step: string): Promise<void> {
    if (killed.length >= REPLAY_KILLS) return;
    await pause(random() * KILL_WITHIN_MS); // the fault happens at a random moment, so the pause is part of the test
    killed.push(`${step}: ${await kill(random)}`);
  }

  /** `command` is sent again if Weir refuses it. A kill in a swap can end the pause of the writers, and the swap is then refused. */
  const reaches = (phase: string, command?: 'swap' | 'undo'): Promise<boolean> =>
    eventually(
      `the phase ${phase}`,
      async () => {
        const { status, json, text } = await client.admin('GET', '/replays/current');
        if (status !== 200) throw new Error(text);
        const { data } = json as { readonly data: Replay };
        if (data.refusal !== null && data.wish === null && data.phase !== phase && data.phase !== 'swap') {
          if (command === undefined || refusals === REFUSALS_MAX) throw new Error(data.refusal);
          say(`replay from ${from}: ${command} refused: ${data.refusal}`);
          refusals++;
          await client.admin('POST', `/replays/current/${command}`);
        }
        if (data.phase !== phase) throw new Error(text);
        return true;
      },
      STEP_WITHIN_MS,
    );

  async function drop(): Promise<void> {
    await ask('DELETE', '/replays/current', 200);
    await eventually('no replay', async () => (await client.admin('GET', '/replays/current')).status === 404);
  }

  for (let round = 0; round === 0 || killed.length < REPLAY_KILLS; round++) {
    if (round > 0) await drop();
    await ask('POST', '/replays', 201, { from });
    await killDuring('start');
    await reaches('follow');
    const interrupted = client.admin('GET', '/replays/current/diff').catch(() => undefined);
    await killDuring('diff');
    await interrupted;
    const { data } = (await ask('GET', '/replays/current/diff', 200)) as { readonly data: { changes: unknown[] } };
    expect(data.changes).toEqual([]);
    await ask('POST', '/replays/current/swap', 200);
    await killDuring('swap');
    await reaches('swapped', 'swap');
    // An undo needs no raw records. Without it, the tables at the end are those that a replay from raw has made.
    if (from === 'raw' && (killed.length + 1 >= REPLAY_KILLS || round % 2 === 1)) continue;
    await ask('POST', '/replays/current/undo', 200);
    await killDuring('undo');
    await reaches('undone', 'undo');
  }
  await load.stop();
  await expectExactlyOnce(weir, site, load);
  const digests = (database: string) => tableDigests((query) => client.sql(query), database);
  for (const again of from === 'raw' ? ['enriched', 'raw'] : ['enriched']) {
    await drop();
    await ask('POST', '/replays', 201, { from: again });
    await reaches('follow');
    expect(await digests('weir_shadow')).toEqual(await digests('weir'));
  }
  await drop();
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

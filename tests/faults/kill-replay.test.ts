import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@weir/testkit/eventually';
import { seededRandom, startLoad } from '@weir/testkit/load';
import { startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import { tableDigests } from '../../packages/adapters/test/clickhouse/table-digests.ts';
import { expectExactlyOnce, FAULTS_ENV, say } from './exactly-once.ts';

/** The number of kills during each step: start, swap and undo. */
const KILLS = Number(process.env.WEIR_REPLAY_KILLS ?? 2);
const CLIENTS = 4;
const EVENTS_BEFORE = 2_000;
const STEP_WITHIN_MS = 180_000;

const SWAP = { name: 'swap', phase: 'swapped' } as const;
const UNDO = { name: 'undo', phase: 'undone' } as const;

interface Replay {
  readonly phase: string;
  readonly refusal: string | null;
  readonly wish: string | null;
}

test.each([
  ['enriched', [SWAP, UNDO]],
  // At the end, the live tables are those that the replay has made.
  ['raw', [SWAP]],
] as const)(
  `kill -9 at ${KILLS} random moments of each step of a replay from %s under load: nothing lost, nothing twice in any table`,
  async (from, steps) => {
    const seed = Number(process.env.WEIR_FAULT_SEED ?? Date.now() % 1_000_000);
    say(`kill-replay: WEIR_FAULT_SEED=${seed}`);
    const random = seededRandom(seed);
    const weir = await startWeir({ env: FAULTS_ENV });
    try {
      const site = await weir.client.createSite();
      const { key } = await weir.client.createKey(site);
      const load = startLoad({ url: weir.url, site, key, clients: CLIENTS });
      await eventually('enough events', () => load.acknowledgedKeys.size >= EVENTS_BEFORE, STEP_WITHIN_MS);

      const kill = async (): Promise<void> => {
        await pause(20 + random() * 1_500); // the kill must happen at a random moment, so the pause is part of the test
        await weir.kill9();
        await weir.restart();
      };
      await asked(weir, 'POST', '/replays', 201, { from });
      await killUntil(weir, 'follow', kill);
      await asked(weir, 'GET', '/replays/current/diff', 200);
      for (const { name, phase } of steps) {
        await asked(weir, 'POST', `/replays/current/${name}`, 200);
        await killUntil(weir, phase, kill);
      }

      await load.stop();
      await expectExactlyOnce(weir, site, load);

      // The expected rows: a new replay writes the whole log into new shadow tables, which no swap has exchanged.
      const digests = (database: string) => tableDigests((query) => weir.client.sql(query), database);
      for (const again of from === 'raw' ? ['enriched', 'raw'] : ['enriched']) {
        await asked(weir, 'DELETE', '/replays/current', 200);
        await eventually('no replay', async () => (await weir.client.admin('GET', '/replays/current')).status === 404);
        await asked(weir, 'POST', '/replays', 201, { from: again });
        await killUntil(weir, 'follow', undefined);
        expect(await digests('weir_shadow')).toEqual(await digests('weir'));
      }
      say(`kill-replay: ${load.acknowledgedKeys.size} events, ${load.retries()} retries`);
    } finally {
      await weir.stop();
    }
  },
  900_000,
);

/** Sends a request to the admin API, and repeats it while Weir restarts. */
async function asked(weir: WeirProcess, method: string, path: string, status: number, body?: object): Promise<void> {
  await eventually(`${method} ${path}`, async () => {
    const answer = await weir.client.admin(method, path, body);
    if (answer.status !== status) throw new Error(`${answer.status} ${answer.text}`);
    return true;
  });
}

async function killUntil(weir: WeirProcess, phase: string, kill: (() => Promise<void>) | undefined): Promise<void> {
  for (let kills = 0; kill !== undefined && kills < KILLS; kills++) await kill();
  await eventually(
    `the phase ${phase}`,
    async () => {
      const { data } = (await weir.client.admin('GET', '/replays/current')).json as { readonly data: Replay };
      if (data.refusal !== null && data.wish === null) throw new Error(data.refusal);
      return data.phase === phase;
    },
    STEP_WITHIN_MS,
  );
}

import { cpSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@weir/testkit/eventually';
import type { Load } from '@weir/testkit/load';
import { PROJECT_ROOT, type WeirProcess } from '@weir/testkit/weir-process';
import {
  addRebuildMigration,
  ORDER_OF,
  REBUILT_ORDER,
} from '../../packages/adapters/test/clickhouse/rebuild-migration.ts';
import { tableDigests } from '../../packages/adapters/test/clickhouse/table-digests.ts';
import { expectExactlyOnce, faultRandom, say } from './exactly-once.ts';
import { REPLAY_KILLS } from './replay-kills.ts';

const KILL_WITHIN_MS = 4_000;
const STEP_WITHIN_MS = 300_000;

export interface RebuildKills {
  readonly weir: Pick<WeirProcess, 'client' | 'url'>;
  readonly load: Load;
  readonly site: string;
  /** The installation to which a migration is added. */
  readonly root: string;
  /** Kills the process that runs control from the folder `root`, and possibly other processes. Resolves when all of them run again. */
  kill(random: () => number): Promise<void>;
}

/** Copies the installation, so that a test can add a migration to it. Returns the folder. */
export function copyInstallation(): string {
  const root = mkdtempSync(join(tmpdir(), 'weir-installation-'));
  for (const name of ['dist', 'schemas', 'infra/kafka', 'package.json']) {
    cpSync(join(PROJECT_ROOT, name), join(root, name), { recursive: true });
  }
  symlinkSync(join(PROJECT_ROOT, 'node_modules'), join(root, 'node_modules'));
  return root;
}

/**
 * Adds a migration that rebuilds `records`, and restarts control. Then kills processes at REPLAY_KILLS random moments of the rebuild, under load.
 * Afterwards stops the load, and compares all tables with those of a replay without kills.
 */
export async function killRebuild({ weir, load, site, root, kill }: RebuildKills): Promise<void> {
  const { client } = weir;
  const random = faultRandom(`rebuild, WEIR_REPLAY_KILLS=${REPLAY_KILLS}`);
  await addRebuildMigration(join(root, 'schemas/clickhouse'), (query) => client.sql(query));
  const phases: string[] = [];
  // The rebuild begins with the restart after this kill, which is not one of the REPLAY_KILLS.
  await kill(random);
  for (let kills = 0; kills < REPLAY_KILLS; kills++) {
    await pause(random() * KILL_WITHIN_MS); // the fault happens at a random moment, so the pause is part of the test
    const { json } = await client.admin('GET', '/replays/current');
    phases.push((json as { readonly data?: { readonly phase: string } }).data?.phase ?? 'none');
    await kill(random);
  }
  // A rebuild ends when it has processed all live records. On a busy machine, it could not catch up while the load continues.
  await load.stop();
  await eventually(
    'the rebuild to end',
    async () => {
      const [row] = await client.sql(ORDER_OF('weir'));
      const { status, text } = await client.admin('GET', '/replays/current');
      if (row?.text !== REBUILT_ORDER || status !== 404) throw new Error(`${row?.text} ${text}`);
      return true;
    },
    STEP_WITHIN_MS,
  );
  await expectExactlyOnce(weir, site, load);
  expect((await client.admin('POST', '/replays', { from: 'enriched' })).status).toBe(201);
  await eventually(
    'a replay to follow',
    async () => (await client.admin('GET', '/replays/current')).text.includes('"follow"'),
    STEP_WITHIN_MS,
  );
  const digests = (database: string) => tableDigests((query) => client.sql(query), database);
  expect(await digests('weir_shadow')).toEqual(await digests('weir'));
  say(
    `rebuild: killed in the phases ${phases.join(', ')}; ${load.acknowledgedKeys.size} events, ${load.retries()} retries`,
  );
}

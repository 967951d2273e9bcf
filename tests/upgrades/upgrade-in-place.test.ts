import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { seededRandom } from '@weir/testkit/load';
import { startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import { FAULTS_ENV, faultSeed, say } from '../faults/exactly-once.ts';
import { auditSent } from '../faults/suite/audit-sent.ts';
import { type Sent, startVisitorLoad, type VisitorLoad } from '../faults/suite/visitor-load.ts';
import { fillHistory } from './fill-history.ts';
import { installationOf, missingCommit, THIS_CODE } from './installed-version.ts';
import { killMigrations } from './kill-migrations.ts';
import { differencesOf, readNumbers } from './site-numbers.ts';

/** The last commit before the tables were changed for faster reports: its tables lack all migrations after 007. */
const OLD = 'ee5f588';
const KILLS = Number(process.env.WEIR_UPGRADE_KILLS ?? 3);
const ROWS = Number(process.env.WEIR_UPGRADE_ROWS ?? 4_000);
const CLIENTS = 4;
const EVENTS_BEFORE = 200;
const EVENTS_AFTER = 200;
const REPEATED_MAX = 100;
const STEP_WITHIN_MS = 180_000;
const TEST_WITHIN_MS = 3_600_000;

const problem = missingCommit(OLD);
(problem === undefined ? test : test.skip)(
  `a data folder of ${OLD} is migrated in place with ${KILLS} kills, while events are accepted${problem === undefined ? '' : `: ${problem}`}`,
  async () => {
    const seed = faultSeed();
    say(`upgrade: WEIR_UPGRADE_ROWS=${ROWS} WEIR_UPGRADE_KILLS=${KILLS} WEIR_FAULT_SEED=${seed}`);
    const random = seededRandom(seed);
    const old = await installationOf(OLD);
    const dataDir = mkdtempSync(join(tmpdir(), 'weir-upgrade-'));
    const weir = await startWeir({ program: old.program, dataDir, env: FAULTS_ENV });
    let load: VisitorLoad | undefined;
    try {
      const { client, url } = weir;
      const [history, live] = [await client.createSite(), await client.createSite()];
      const [ofHistory, ofLive] = [await client.createKey(history), await client.createKey(live)];
      const startedAt = Date.now();
      await fillHistory({ ...{ version: old, client, url, random }, site: history, key: ofHistory.key, rows: ROWS });
      const stored = await client.number('SELECT count() FROM events WHERE site_id = {site:String}', { site: history });
      say(`upgrade: ${OLD} has stored ${stored} rows in ${Math.round((Date.now() - startedAt) / 1000)} s`);
      expect(stored).toBeGreaterThan(ROWS * 0.9);
      const before = await readNumbers(client, history);

      load = startVisitorLoad({
        ...{ urls: [url], site: live, key: ofLive.key, clients: CLIENTS, sendsKeysAgain: true },
        random: seededRandom(seed + 1),
      });
      const running = load;
      await eventually('a load', () => running.acknowledged() > EVENTS_BEFORE, STEP_WITHIN_MS);
      await weir.kill9();
      const sentBefore = running.sent.filter(({ kind, acknowledged }) => kind === 'keyed' && acknowledged);
      const { killed, acknowledgedMeanwhile } = await killMigrations({
        ...{ weir, program: THIS_CODE.program, kills: KILLS, random },
        acknowledged: running.acknowledged,
      });
      say(`upgrade: killed in ${killed.join(', ')}; ${acknowledgedMeanwhile} records were acknowledged meanwhile`);
      expect(acknowledgedMeanwhile).toBeGreaterThan(0);

      const wanted = running.acknowledged() + EVENTS_AFTER;
      await eventually('more load', () => running.acknowledged() > wanted, STEP_WITHIN_MS);
      expect(await sendAgain(weir, ofLive.key, sentBefore.slice(-REPEATED_MAX))).toEqual([]);
      await running.stop();
      await client.settled(STEP_WITHIN_MS);
      const audit = await auditSent(weir, live, running.sent);
      const differences = differencesOf(before, await readNumbers(client, history, before));
      expect([...running.strange, ...audit.findings, ...differences]).toEqual([]);
      say(
        `upgrade: ${audit.acknowledged} acknowledged, ${audit.lost} lost, ${audit.doubled} doubled; all numbers equal`,
      );
    } finally {
      load?.abandon();
      await weir.kill9();
      rmSync(dataDir, { recursive: true });
    }
  },
  TEST_WITHIN_MS,
);

/** Sends events again that an earlier version has acknowledged. Returns one text for each unexpected answer. */
async function sendAgain(weir: WeirProcess, key: string, events: readonly Sent[]): Promise<readonly string[]> {
  const strange: string[] = [];
  for (const { kind, name, visitor } of events) {
    const event = { name: kind, idempotency_key: name, visitor_id: visitor };
    const { status, text } = await weir.client.events(key, event);
    if (status !== 200 && status !== 202) strange.push(`${name}: ${status} ${text}`);
  }
  return strange;
}

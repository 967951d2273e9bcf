import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@weir/testkit/eventually';
import { seededRandom } from '@weir/testkit/load';
import { startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import { FAULTS_ENV, faultRandom, say } from '../faults/exactly-once.ts';
import { auditSent } from '../faults/suite/audit-sent.ts';
import { startVisitorLoad, type VisitorLoad } from '../faults/suite/visitor-load.ts';
import { fillHistory } from './fill-history.ts';
import { type Installation, installationOf, releaseTags, THIS_CODE } from './installed-version.ts';
import { differencesOf, readNumbers } from './site-numbers.ts';

const PATHS = Number(process.env.WEIR_UPGRADE_PATHS ?? 1);
/** The maximum number of releases. Installing one takes about a minute, so by default only the two newest are tested. */
const RELEASES_MAX = Number(process.env.WEIR_UPGRADE_RELEASES ?? 2);
const ROWS = 1_000;
const STEPS_MAX = 2;
const CLIENTS = 4;
const EVENTS_PER_STEP = 60;
const KILLED_STARTS_SHARE = 0.5;
const KILL_WITHIN_MS = 3_000;
const STEP_WITHIN_MS = 180_000;
const TEST_WITHIN_MS = 7_200_000;
const TOO_NEW = 'was used by a newer version of Weir';

/** Commits that are tested as if they were releases. */
const more = (process.env.WEIR_UPGRADE_REFS ?? '').split(',').filter((name) => name !== '');
const chosen = [...releaseTags().slice(-RELEASES_MAX), ...more];
/** If there is no release, the test uses the first commit whose data folders contain the file `format`. */
const releases = chosen.length > 0 ? chosen : ['d6c523d24a5c770156d84f89b85c5fcc330406f9'];

test(
  `${PATHS} random paths between releases, up and down, with kills`,
  async () => {
    const random = faultRandom(`release paths: ${releases.join(', ')}; WEIR_UPGRADE_PATHS=${PATHS}`);
    const versions = [THIS_CODE];
    for (const name of releases) versions.push(await installationOf(name));
    for (let nth = 0; nth < PATHS; nth++) await walkPath(versions, random);
  },
  TEST_WITHIN_MS,
);

/**
 * Makes a data folder with a random release. Then opens it under load: with this code, with a random release, with one or two random versions,
 * and at last with this code again.
 */
async function walkPath(versions: readonly Installation[], random: () => number): Promise<void> {
  const pick = (from: readonly Installation[]) => from[Math.floor(random() * from.length)] ?? THIS_CODE;
  const others = versions.filter((version) => version !== THIS_CODE);
  const first = pick(others);
  const dataDir = mkdtempSync(join(tmpdir(), 'weir-paths-'));
  const weir = await startWeir({ program: first.program, dataDir, env: FAULTS_ENV });
  let load: VisitorLoad | undefined;
  try {
    const { client, url } = weir;
    const [history, live] = [await client.createSite(), await client.createSite()];
    const [ofHistory, ofLive] = [await client.createKey(history), await client.createKey(live)];
    await fillHistory({ ...{ version: first, client, url, random }, site: history, key: ofHistory.key, rows: ROWS });
    const before = await readNumbers(client, history);
    load = startVisitorLoad({
      ...{ urls: [url], site: live, key: ofLive.key, clients: CLIENTS, sendsKeysAgain: true },
      random: seededRandom(Math.floor(random() * 1_000_000)),
    });
    const running = load;
    const path = [first.name];
    const between = Array.from({ length: 1 + Math.floor(random() * STEPS_MAX) }, () => pick(versions));
    for (const version of [THIS_CODE, pick(others), ...between, THIS_CODE]) {
      const wanted = running.acknowledged() + EVENTS_PER_STEP;
      await eventually('more load', () => running.acknowledged() > wanted, STEP_WITHIN_MS);
      if (random() < 0.5) await weir.terminate();
      else await weir.kill9();
      path.push(await openWith(weir, version, random));
    }
    const wanted = running.acknowledged() + EVENTS_PER_STEP;
    await eventually('more load', () => running.acknowledged() > wanted, STEP_WITHIN_MS);
    await running.stop();
    await client.settled(STEP_WITHIN_MS);
    const audit = await auditSent(weir, live, running.sent);
    say(
      `release paths: ${path.join(' → ')}: ${audit.acknowledged} acknowledged, ${audit.lost} lost, ${audit.doubled} doubled`,
    );
    const differences = differencesOf(before, await readNumbers(client, history, before));
    expect([...running.strange, ...audit.findings, ...differences]).toEqual([]);
  } finally {
    load?.abandon();
    await weir.kill9();
    rmSync(dataDir, { recursive: true });
  }
}

/**
 * Starts a version. Kills about half of the starts at a random moment. If a newer version has changed the format of the folder, this version can
 * refuse the folder. Then this code opens it instead. Resolves with a text that has the name of the version and says what happened.
 */
async function openWith(weir: WeirProcess, version: Installation, random: () => number): Promise<string> {
  const killed = random() < KILLED_STARTS_SHARE;
  if (killed) {
    const starting = weir.restart(version.program).catch(() => undefined);
    await pause(random() * KILL_WITHIN_MS); // the kill happens at a random moment, so the pause is part of the test
    await weir.kill9();
    await starting;
  }
  const name = killed ? `${version.name} (start killed)` : version.name;
  try {
    await weir.restart(version.program);
    return name;
  } catch (error) {
    if (version === THIS_CODE || !(error as Error).message.includes(TOO_NEW)) throw error;
    await weir.restart(THIS_CODE.program);
    return `${name} refused → ${THIS_CODE.name}`;
  }
}

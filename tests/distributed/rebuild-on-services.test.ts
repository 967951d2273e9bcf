import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { startLoad } from '@weir/testkit/load';
import { startWeir } from '@weir/testkit/weir-process';
import { FAULTS_ENV } from '../faults/exactly-once.ts';
import { copyInstallation, killRebuild } from '../faults/rebuild-kills.ts';
import { KILLS_TIMEOUT_MS, REPLAY_KILLS } from '../faults/replay-kills.ts';
import { describeDistributed } from './deployment.ts';

const EVENTS_BEFORE = 200;
const WRITER_TOO = 0.5;

jest.setTimeout(KILLS_TIMEOUT_MS);

describeDistributed('a rebuild on Kafka, Redis and ClickHouse', FAULTS_ENV, (weir) => {
  test(`under load, control and writers are killed at ${REPLAY_KILLS} random moments: nothing lost, nothing twice`, async () => {
    const { client, control, writers, urls, services } = weir();
    const site = await client.createSite();
    const { key } = await client.createKey(site);
    const load = startLoad({ url: urls, site, key, clients: 2, timeoutMs: 10_000, pauseMs: 20 });
    await eventually('enough events', () => load.acknowledgedKeys.size >= EVENTS_BEFORE, 180_000);
    const root = copyInstallation();
    await control.terminate();
    // As in a rolling upgrade, only control has the new migration.
    const env = { ...services.env, ...FAULTS_ENV, PORT: new URL(control.url).port };
    const upgraded = await startWeir({ program: join(root, 'dist/main.js'), roles: ['control'], env });
    try {
      await killRebuild({
        ...{ weir: weir(), load, site, root },
        async kill(random) {
          const chosen = writers[Math.floor(random() * writers.length)];
          const killed = random() < WRITER_TOO && chosen !== undefined ? [upgraded, chosen] : [upgraded];
          await Promise.all(killed.map((process) => process.kill9()));
          await Promise.all(killed.map((process) => process.restart()));
        },
      });
    } finally {
      await upgraded.stop();
      await control.restart();
      rmSync(root, { recursive: true });
    }
  });
});

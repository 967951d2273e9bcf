import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@weir/testkit/eventually';
import { startLoad } from '@weir/testkit/load';
import { startWeir } from '@weir/testkit/weir-process';
import { FAULTS_ENV } from './exactly-once.ts';
import { copyInstallation, killRebuild } from './rebuild-kills.ts';
import { KILLS_TIMEOUT_MS, REPLAY_KILLS } from './replay-kills.ts';

const CLIENTS = 2;
const PAUSE_MS = 20;
const EVENTS_BEFORE = 400;

test(
  `kill -9 at ${REPLAY_KILLS} random moments of a rebuild under load: nothing lost, nothing twice in any table`,
  async () => {
    const root = copyInstallation();
    const weir = await startWeir({ program: join(root, 'dist/main.js'), env: FAULTS_ENV });
    try {
      const { site, key } = await weir.client.createSiteWithKey();
      const load = startLoad({ url: weir.url, site, key, clients: CLIENTS, pauseMs: PAUSE_MS });
      await eventually('enough events', () => load.acknowledgedKeys.size >= EVENTS_BEFORE, 300_000);
      await killRebuild({
        ...{ weir, load, site, root },
        async kill() {
          await weir.kill9();
          await weir.restart();
        },
      });
    } finally {
      await weir.stop();
      rmSync(root, { recursive: true });
    }
  },
  KILLS_TIMEOUT_MS,
);

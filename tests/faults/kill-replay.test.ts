import { eventually } from '@weir/testkit/eventually';
import { startLoad } from '@weir/testkit/load';
import { startWeir } from '@weir/testkit/weir-process';
import { FAULTS_ENV } from './exactly-once.ts';
import { KILLS_TIMEOUT_MS, killReplays, REPLAY_KILLS } from './replay-kills.ts';

const CLIENTS = 4;
const EVENTS_BEFORE = 2_000;
/** The load pauses this long between events. Without a pause, a long run would store so many events that each replay takes minutes. */
const PAUSE_MS = 10;
const CLICKHOUSE_ONLY = 0.3;

test.each(['enriched', 'raw'] as const)(
  `kill -9 at ${REPLAY_KILLS} random moments of replays from %s under load: nothing lost, nothing twice in any table`,
  async (from) => {
    const weir = await startWeir({ env: FAULTS_ENV });
    try {
      const { site, key } = await weir.client.createSiteWithKey();
      const load = startLoad({ url: weir.url, site, key, clients: CLIENTS, pauseMs: PAUSE_MS });
      await eventually('enough events', () => load.acknowledgedKeys.size >= EVENTS_BEFORE, 180_000);
      await killReplays({
        ...{ weir, from, load, site },
        async kill(random) {
          if (random() < CLICKHOUSE_ONLY) {
            weir.killClickhouse();
            await eventually('SQL to answer again', async () => (await weir.client.number('SELECT 1')) === 1);
            return 'clickhouse';
          }
          await weir.kill9();
          await weir.restart();
          return 'all roles';
        },
      });
    } finally {
      await weir.stop();
    }
  },
  KILLS_TIMEOUT_MS,
);

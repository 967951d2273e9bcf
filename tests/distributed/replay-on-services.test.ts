import { eventually } from '@weir/testkit/eventually';
import { startLoad } from '@weir/testkit/load';
import { FAULTS_ENV } from '../faults/exactly-once.ts';
import { KILLS_TIMEOUT_MS, killReplays, REPLAY_KILLS } from '../faults/replay-kills.ts';
import { describeDistributed } from './deployment.ts';
import { killAndRestart, roleVictims, serviceVictims, type Victim } from './victims.ts';

const EVENTS_BEFORE = 500;
const CLIENTS = 2;
const PAUSE_MS = 10;
/** The share of the kills that also kill control, which leads the replay. */
const CONTROL_TOO = 0.5;

jest.setTimeout(KILLS_TIMEOUT_MS);

describeDistributed('a replay on Kafka, Redis and ClickHouse', FAULTS_ENV, (weir) => {
  test.each([
    ['enriched', 'roles'],
    ['raw', 'services'],
  ] as const)(
    `from %s, under load, with ${REPLAY_KILLS} kills of random %s: nothing lost, nothing twice`,
    async (from, kind) => {
      const { client, services, urls } = weir();
      const roles = roleVictims(weir());
      const [control] = roles;
      const victims = kind === 'roles' ? roles : serviceVictims(services);
      const site = await client.createSite();
      const { key } = await client.createKey(site);
      const load = startLoad({ url: urls, site, key, clients: CLIENTS, timeoutMs: 10_000, pauseMs: PAUSE_MS });
      await eventually('enough events', () => load.acknowledgedKeys.size >= EVENTS_BEFORE, 180_000);
      await killReplays({
        ...{ weir: weir(), from, load, site },
        async kill(random) {
          const chosen = victims[Math.floor(random() * victims.length)] as Victim;
          const withControl = chosen !== control && random() < CONTROL_TOO;
          return killAndRestart(withControl ? [chosen, control] : [chosen]);
        },
      });
    },
  );
});

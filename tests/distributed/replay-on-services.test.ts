import { eventually } from '@weir/testkit/eventually';
import { startLoad } from '@weir/testkit/load';
import type { WeirProcess } from '@weir/testkit/weir-process';
import { FAULTS_ENV } from '../faults/exactly-once.ts';
import { KILLS_TIMEOUT_MS, killReplays, REPLAY_KILLS } from '../faults/replay-kills.ts';
import { describeDistributed } from './deployment.ts';

const EVENTS_BEFORE = 500;
const CLIENTS = 2;
const PAUSE_MS = 10;
/** The part of the kills that also kill the process that leads the replay. */
const CONTROL_TOO = 0.5;

jest.setTimeout(KILLS_TIMEOUT_MS);

describeDistributed('a replay on Kafka, Redis and ClickHouse', FAULTS_ENV, (weir) => {
  test.each(['enriched', 'raw'] as const)(
    `from %s, under load, with ${REPLAY_KILLS} kills of random roles: nothing lost, nothing twice`,
    async (from) => {
      const { client, control, gateways, enrichers, writers, urls } = weir();
      const others = Object.entries({ gateway: gateways, enricher: enrichers, writer: writers }).flatMap(
        ([name, processes]) => processes.map((process) => ({ name, process })),
      );
      const site = await client.createSite();
      const { key } = await client.createKey(site);
      const load = startLoad({ url: urls, site, key, clients: CLIENTS, timeoutMs: 10_000, pauseMs: PAUSE_MS });
      await eventually('enough events', () => load.acknowledgedKeys.size >= EVENTS_BEFORE, 180_000);
      await killReplays({
        ...{ weir: weir(), from, load, site },
        async kill(random) {
          const all = [{ name: 'control', process: control }, ...others];
          const chosen = all[Math.floor(random() * all.length)] as { name: string; process: WeirProcess };
          const withControl = chosen.process !== control && random() < CONTROL_TOO;
          const killed = withControl ? [chosen.process, control] : [chosen.process];
          await Promise.all(killed.map((process) => process.kill9()));
          await Promise.all(killed.map((process) => process.restart()));
          return withControl ? `control and ${chosen.name}` : chosen.name;
        },
      });
    },
  );
});

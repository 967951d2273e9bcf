import { setTimeout as pause } from 'node:timers/promises';
import type { WeirProcess } from '@weir/testkit/weir-process';
import { duration } from '../../faults/suite/connection-faults.ts';
import type { Fault } from '../../faults/suite/fault.ts';
import type { Deployment } from '../deployment.ts';
import { roleVictims } from '../victims.ts';
import { DEPLOYED, type Deployed } from './deployed-subject.ts';
import { oneOf, othersTakeOver } from './take-over.ts';

const STOPPED_MAX_MS = { short: 1_000, long: 20_000 } as const;

const ROLES: readonly (readonly [name: string, about: string, of: (weir: Deployment) => readonly WeirProcess[]])[] = [
  ['gateway', 'one of two gateways', ({ gateways }) => gateways],
  ['enricher', 'one of two enrichers', ({ enrichers }) => enrichers],
  ['writer', 'one of two writers', ({ writers }) => writers],
  ['control', 'control', ({ control }) => [control]],
];

const stopUntilOthersTakeOver = (
  name: string,
  role: string,
  processes: (weir: Deployment) => readonly WeirProcess[],
): Fault<Deployed> => ({
  ...{ ...DEPLOYED, name },
  about: `SIGSTOP of one of two ${role} until the other one has all partitions, and up to 20 s longer; then SIGCONT`,
  async strike(broken, round) {
    const zombie = oneOf(processes(broken.weir), round);
    zombie.signal('SIGSTOP');
    try {
      await othersTakeOver(broken, round);
      await pause(round.random() * (round.short ? STOPPED_MAX_MS.short : STOPPED_MAX_MS.long));
    } finally {
      zombie.signal('SIGCONT');
    }
  },
});

export const ROLE_FAULTS: readonly Fault<Deployed>[] = [
  ...ROLES.map(
    ([name, about, of]): Fault<Deployed> => ({
      ...{ ...DEPLOYED, name: `kill-${name}`, about: `\`kill -9\` of ${about} at a random moment` },
      async strike({ weir }, round) {
        const victim = oneOf(of(weir), round);
        await victim.kill9();
        round.over();
        await victim.restart();
      },
    }),
  ),
  {
    ...{ ...DEPLOYED, name: 'kill-roles', about: '`kill -9` of all gateways, enrichers, writers and control at once' },
    async strike({ weir }, { over }) {
      const victims = roleVictims(weir);
      await Promise.all(victims.map((victim) => victim.kill9()));
      over();
      await Promise.all(victims.map((victim) => victim.restart()));
    },
  },
  stopUntilOthersTakeOver('stop-enricher', 'enrichers', ({ enrichers }) => enrichers),
  stopUntilOthersTakeOver('stop-writer', 'writers', ({ writers }) => writers),
  {
    ...{ ...DEPLOYED, name: 'stop-gateway', about: 'SIGSTOP of one of two gateways for 1 to 10 s, then SIGCONT' },
    async strike({ weir }, round) {
      const victim = oneOf(weir.gateways, round);
      victim.signal('SIGSTOP');
      await duration(round);
      victim.signal('SIGCONT');
    },
  },
  {
    ...{ ...DEPLOYED, name: 'rolling-restart', about: 'SIGTERM and a new start of each process, one after the other' },
    async strike({ weir: { control, gateways, enrichers, writers } }, { found }) {
      for (const one of [control, ...gateways, ...enrichers, ...writers]) {
        const code = await one.terminate();
        if (code !== 0) found(`${one.url} ended with ${code} on SIGTERM`);
        await one.restart();
      }
    },
  },
];

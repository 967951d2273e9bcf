import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@weir/testkit/eventually';
import { whyNoMount } from '../../faults/small-disk.ts';
import type { Fault } from '../../faults/suite/fault.ts';
import { CLUSTERED, type Clustered } from '../cluster/clustered-subject.ts';
import { refusesRequests, someBrokers } from './broker-faults.ts';
import { othersTakeOver } from './take-over.ts';

const FULL_MAX_MS = { short: 500, long: 5_000 } as const;

/**
 * Fills the disks of some brokers at the same time. A broker that cannot write ends. While the disks are full, `meanwhile` checks what Weir must
 * still do.
 */
const disksFull = (
  count: number,
  texts: Pick<Fault<Clustered>, 'name' | 'about'>,
  meanwhile: (...args: Parameters<Fault<Clustered>['strike']>) => Promise<void>,
): Fault<Clustered> => ({
  ...{ ...CLUSTERED, ...texts, problem: whyNoMount },
  async strike(broken, round) {
    const victims = someBrokers(broken.cluster, count, round);
    const disks = victims.map(({ id }) => broken.disks[id - 1]);
    for (const disk of disks) disk?.takeAtOnce();
    await meanwhile(broken, round);
    await eventually('the brokers to end', () => victims.every((victim) => !victim.isRunning()));
    await pause(round.random() * (round.short ? FULL_MAX_MS.short : FULL_MAX_MS.long));
    for (const disk of disks) disk?.release();
    round.over();
    await Promise.all(victims.map((victim) => victim.start()));
  },
});

export const BROKER_DISK_FAULTS: readonly Fault<Clustered>[] = [
  disksFull(
    1,
    {
      name: 'broker-disk-full',
      about:
        'the disk of one of three brokers is full, and the broker ends; then the disk is freed, and the broker starts',
    },
    othersTakeOver,
  ),
  disksFull(
    3,
    {
      name: 'broker-disks-full',
      about:
        'the disks of all three brokers are full, and the brokers end; then the disks are freed, and the brokers start',
    },
    (_broken, round) => refusesRequests(round),
  ),
];

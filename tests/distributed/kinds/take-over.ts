import { eventually } from '@weir/testkit/eventually';
import type { WeirProcess } from '@weir/testkit/weir-process';
import type { Round, Subject } from '../../faults/suite/fault.ts';

/**
 * The number of test events. During the fault, one of two processes cannot work. It has half of the partitions. With this many events, some of them
 * are almost certainly in its partitions.
 */
const PROBES = 32;
const TAKEN_OVER_WITHIN_MS = 180_000;

export function oneOf(processes: readonly WeirProcess[], { random }: Round): WeirProcess {
  const chosen = processes[Math.floor(random() * processes.length)];
  if (chosen === undefined) throw new Error('there is no process of this role');
  return chosen;
}

/**
 * Sends test events to the partitions of both processes. Resolves when all of them are stored. One process cannot work, so the other one must
 * then have taken over its partitions.
 */
export async function othersTakeOver({ client }: Subject, { load, site }: Round): Promise<void> {
  const probes = await Promise.all(Array.from({ length: PROBES }, () => load.probe()));
  await eventually(
    'the other process to take over all partitions',
    async () => {
      const query =
        'SELECT uniqExact(idempotency_key) FROM events WHERE site_id = {site:String} AND idempotency_key IN {probes:Array(String)}';
      return (await client.number(query, { site, probes })) === PROBES;
    },
    TAKEN_OVER_WITHIN_MS,
  );
}

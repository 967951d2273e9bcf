import { setTimeout as pause } from 'node:timers/promises';
import { eventually } from '@weir/testkit/eventually';
import { whyNoClientPorts } from '../../faults/suite/client-ports.ts';
import { duration } from '../../faults/suite/connection-faults.ts';
import type { Fault, Round } from '../../faults/suite/fault.ts';
import type { BrokerCluster, ClusterBroker } from '../cluster/broker-cluster.ts';
import { CLUSTERED, type Clustered } from '../cluster/clustered-subject.ts';
import { anyMode } from './cut-off-faults.ts';
import { oneOf, othersTakeOver } from './take-over.ts';

const TOPICS = ['events.raw', 'events.enriched', 'registry', 'salts'];
const DOWN_MAX_MS = { short: 500, long: 5_000 } as const;
const MOVED_WITHIN_MS = 180_000;

export function someBrokers({ brokers }: BrokerCluster, count: number, { random }: Round): readonly ClusterBroker[] {
  const left = [...brokers];
  return Array.from({ length: count }, () => left.splice(Math.floor(random() * left.length), 1)).flat();
}

/** Resolves when one more request has been answered with 503. (The load checks that every such answer has `Retry-After`.) */
export async function refusesRequests({ load }: Round): Promise<void> {
  const refused = (): number => load.saw.get('503') ?? 0;
  const before = refused();
  await eventually('a gateway to answer 503', () => refused() > before);
}

/** The leader of each partition. */
function leadersOf({ admin }: BrokerCluster): Promise<ReadonlyMap<string, number>> {
  return admin(async (connected) => {
    const { topics } = await connected.fetchTopicMetadata({ topics: TOPICS });
    return new Map(
      topics.flatMap(({ name, partitions }) =>
        partitions.map(({ partitionId, leader }) => [`${name}/${partitionId}`, leader] as const),
      ),
    );
  });
}

/** Makes the second replica of each partition its preferred leader. The controller elects preferred leaders every second. */
function preferNextReplica({ admin }: BrokerCluster): Promise<void> {
  return admin(async (connected) => {
    const { topics } = await connected.fetchTopicMetadata({ topics: TOPICS });
    const moved = topics.map(({ name, partitions }) => ({
      topic: name,
      partitionAssignment: partitions.map(({ partitionId, replicas: [first, ...rest] }) => ({
        partition: partitionId,
        replicas: [...rest, ...(first === undefined ? [] : [first])],
      })),
    }));
    await connected.alterPartitionReassignments({ topics: moved });
  });
}

export const BROKER_FAULTS: readonly Fault<Clustered>[] = [
  {
    ...{ ...CLUSTERED, name: 'kill-one-broker' },
    about: '`kill -9` of one of three brokers; Weir continues with the others; then a new start of the broker',
    async strike(broken, round) {
      const [victim] = someBrokers(broken.cluster, 1, round);
      await victim?.kill9();
      await othersTakeOver(broken, round);
      round.over();
      await victim?.start();
    },
  },
  {
    ...{ ...CLUSTERED, name: 'kill-two-brokers' },
    about: '`kill -9` of two of three brokers, so that gateways refuse records; then a new start of both',
    async strike({ cluster }, round) {
      const victims = someBrokers(cluster, 2, round);
      await Promise.all(victims.map((victim) => victim.kill9()));
      await refusesRequests(round);
      await pause(round.random() * (round.short ? DOWN_MAX_MS.short : DOWN_MAX_MS.long));
      round.over();
      await Promise.all(victims.map((victim) => victim.start()));
    },
  },
  {
    ...{ ...CLUSTERED, name: 'move-leaders', about: 'each partition gets another of three brokers as its leader' },
    async strike({ cluster }) {
      const before = await leadersOf(cluster);
      await preferNextReplica(cluster);
      await eventually(
        'all leaders to move',
        async () => [...(await leadersOf(cluster))].every(([partition, leader]) => leader !== before.get(partition)),
        MOVED_WITHIN_MS,
      );
    },
  },
  {
    ...{ ...CLUSTERED, name: 'without-one-broker', problem: whyNoClientPorts },
    about: 'one gateway, enricher or writer cannot reach one of three brokers for 1 to 10 s; all others can',
    async strike({ weir, ways }, round) {
      const victim = oneOf([...weir.gateways, ...weir.enrichers, ...weir.writers], round);
      const way = ways.kafka[Math.floor(round.random() * ways.kafka.length)];
      way?.proxy.set(anyMode(round), victim.pid());
      await duration(round);
      way?.proxy.set('pass');
    },
  },
];

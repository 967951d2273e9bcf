import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import { localProblem } from '@weir/testkit/live-local';
import topicsJson from '../../../../infra/kafka/topics.json' with { type: 'json' };
import { startMember } from '../../../ports/contract/event-log-member.ts';
import { createKafkaFetcher } from '../../src/kafka/consume/kafka-fetcher.ts';
import { PATIENT } from '../../src/kafka/kafka-client.ts';
import { type KafkaEventLog, type KafkaEventLogConfig, openKafkaEventLog } from '../../src/kafka/kafka-event-log.ts';
import { createKafkaLink } from '../../src/kafka/kafka-link.ts';
import type { TopicsSpec } from '../../src/kafka/kafka-topics.ts';
import { createTopics } from './create-topics.ts';
import { startTwoBrokers, type TwoBrokers } from './two-brokers.ts';

const problem = localProblem('kafka');
const PARTITIONS = [0, 1, 2];
const LEADERLESS = 1;
/**
 * For each of the four partitions of `__consumer_offsets`, the broker that stores it. The coordinator of a group is the broker of partition
 * `hashCode(group) mod 4`. This is partition 2 (first broker) for `group.own.events.raw` and `group.unseen.events.raw`, and partition 0 (second
 * broker) for `other.half.events.raw`.
 */
const OFFSETS_BROKERS = [2, 2, 1, 2];
const GROUP_OF_SECOND = 'other';
const ALL_STORED = ['stored', 'stored', 'stored'];

(problem === undefined ? describe : describe.skip)(`two brokers${problem === undefined ? '' : `: ${problem}`}`, () => {
  let brokers: TwoBrokers;
  const logs: KafkaEventLog[] = [];
  const logger = createLogger('silent');
  const topics = topicsJson as TopicsSpec;

  beforeAll(async () => {
    brokers = await startTwoBrokers();
    const replicaAssignment = OFFSETS_BROKERS.map((broker, partition) => ({ partition, replicas: [broker] }));
    await createTopics(brokers.admin, [
      { topic: '__consumer_offsets', replicaAssignment, configEntries: [{ name: 'cleanup.policy', value: 'compact' }] },
    ]);
  }, 300_000);
  afterAll(async () => {
    await Promise.all(logs.map((one) => one.close()));
    await brokers.close();
  });

  async function open(topicPrefix: string, more: Partial<KafkaEventLogConfig> = {}): Promise<KafkaEventLog> {
    const opened = await openKafkaEventLog({
      brokers: [brokers.address],
      clientId: 'weir-test',
      topics,
      topicPrefix,
      partitions: PARTITIONS.length,
      rawRetentionMs: 72 * 3_600_000,
      enrichedRetentionMs: 30 * 24 * 3_600_000,
      logger,
      ...more,
    });
    logs.push(opened);
    return opened;
  }

  async function makeTopics(topicPrefix: string, replicasOf: (name: string, partition: number) => readonly number[]) {
    const made = Object.entries(topics.topics).map(([name, { partitions, config }]) => ({
      topic: topicPrefix + name,
      replicaAssignment: PARTITIONS.slice(0, partitions === 'log' ? undefined : partitions).map((partition) => ({
        partition,
        replicas: [...replicasOf(name, partition)],
      })),
      configEntries: Object.entries(config).map(([key, value]) => ({ name: key, value })),
    }));
    await createTopics(brokers.admin, made);
  }

  /** Appends one record to each of the partitions. Resolves with the statuses of the outcomes. */
  async function append(to: KafkaEventLog, topic: string, partitions = PARTITIONS): Promise<readonly string[]> {
    const records = partitions.map((partition) => ({ partition, value: Buffer.from('x') }));
    return (await to.append(topic, records)).map(({ status }) => status);
  }

  /** Reads partitions without a consumer group, because the coordinator of a group could be the second broker, which the tests stop. */
  function openReader(topic: string, partitions: readonly number[]) {
    const address = { brokers: [brokers.address], clientId: 'weir-test' };
    const link = createKafkaLink({ address, timeouts: PATIENT, topics: [topic], logger });
    const fetcher = createKafkaFetcher(link, logger);
    const next = new Map<number, number>();
    const failures = new Map<number, number>();
    for (const partition of partitions) {
      fetcher.add({
        ...{ topic, partition, fetchBytesMax: 1024, outOfRange: () => undefined },
        wanted: () => next.get(partition) ?? 0,
        deliver: (offset, messages) => void next.set(partition, Number(messages.at(-1)?.offset ?? offset - 1) + 1),
        onError: () => void failures.set(partition, (failures.get(partition) ?? 0) + 1),
      });
    }
    return {
      delivered: (partition: number) => next.get(partition) ?? 0,
      failures: (partition: number) => failures.get(partition) ?? 0,
      async close() {
        fetcher.close();
        await link.close();
      },
    };
  }

  /** Appends until the outcomes are `wanted`. On a busy machine, an append can exceed its deadline, and its outcome is then refused or unknown. */
  const becomes = (to: KafkaEventLog, topic: string, wanted: readonly string[]) =>
    eventually(`${topic}: ${wanted}`, async () => {
      expect(await append(to, topic)).toEqual(wanted);
      return true;
    });

  describe('a follower that does not answer', () => {
    test('delays appends to events.enriched; appends to events.raw have an unknown outcome', async () => {
      await makeTopics('followed.', () => [1, 2]);
      const log = await open('followed.');
      // Repeats all steps: on a busy machine, the append to events.raw can be refused, because it was not sent in time. And an append to
      // events.enriched waits only some seconds for the follower.
      await eventually('both outcomes', async () => {
        await becomes(log, 'events.enriched', ALL_STORED);
        // Opens the connections first. Otherwise the append below would be refused, because nothing could be sent in time.
        await becomes(log, 'events.raw', ALL_STORED);
        await brokers.pauseSecond();
        const enriched = append(log, 'events.enriched');
        const raw = await append(log, 'events.raw').finally(() => brokers.continueSecond());
        expect([raw, await enriched]).toEqual([['unknown', 'unknown', 'unknown'], ALL_STORED]);
        return true;
      });
    });

    test('delays when consumers can read records; until then, a position has `written`, the end of all records', async () => {
      await makeTopics('unseen.', () => [1, 2]);
      const log = await open('unseen.');
      await eventually('an unknown outcome', async () => {
        await becomes(log, 'events.raw', ALL_STORED);
        await brokers.pauseSecond();
        const outcomes = await append(log, 'events.raw', [0]);
        const [unseen] = await log.positions('events.raw', 'group', [0]).finally(() => brokers.continueSecond());
        expect(outcomes).toEqual(['unknown']);
        expect(unseen?.written).toBeGreaterThan(unseen?.end ?? Number.POSITIVE_INFINITY);
        return true;
      });
      await eventually('consumers can read all records', async () => {
        const [seen] = await log.positions('events.raw', 'group', [0]);
        return seen !== undefined && seen.written === undefined;
      });
    });
  });

  describe('a broker that does not answer', () => {
    test('does not end the connections to the other one, over which appends, reads and pings go on', async () => {
      await makeTopics('half.', (name, partition) => [name === 'events.raw' && partition === 1 ? 2 : 1]);
      const log = await open('half.', { appendDeadlineMs: 5_000 });
      await becomes(log, 'events.raw', ALL_STORED);
      const reader = openReader('half.events.raw', [0, 1]);
      await eventually('both partitions', () => reader.delivered(0) > 0 && reader.delivered(1) > 0);
      await log.positions('events.raw', GROUP_OF_SECOND, [0]);
      await log.ping();
      const opened = watchConnections();
      await brokers.pauseSecond();
      const asked = log.positions('events.raw', GROUP_OF_SECOND, [0]).catch(() => undefined);
      const hanging = append(log, 'events.raw', [1]);
      await eventually('the reader gives up the broker', async () => {
        expect(await append(log, 'events.raw', [0])).toEqual(['stored']);
        return reader.failures(1) > 0;
      });
      expect(await hanging).not.toEqual(['stored']);
      for (let turn = 0; turn < 6; turn++) await log.ping();
      const read = reader.delivered(0);
      expect(await append(log, 'events.raw', [0])).toEqual(['stored']);
      await eventually('a read', () => reader.delivered(0) > read);
      brokers.continueSecond();
      const toFirst = opened.to(Number(brokers.address.split(':')[1]));
      opened.end();
      await becomes(log, 'events.raw', ALL_STORED);
      await asked;
      await reader.close();
      expect(reader.failures(0)).toBe(0);
      expect(toFirst).toBe(0);
    });
  });

  describe('a partition whose only broker is unavailable', () => {
    let log: KafkaEventLog;
    const withoutLeader = ['stored', 'refused', 'stored'];

    beforeAll(async () => {
      const another = { topic: 'another', replicaAssignment: [{ partition: 0, replicas: [2] }] };
      await createTopics(brokers.admin, [another]);
      await makeTopics('own.', (name, partition) => [name === 'events.raw' && partition === LEADERLESS ? 2 : 1]);
      log = await open('own.');
      await becomes(log, 'events.raw', ALL_STORED);
      await makeTopics('away.', (name) => [name === 'events.raw' ? 2 : 1]);
      await becomes(await open('away.'), 'events.raw', ALL_STORED);
      await brokers.admin.deleteTopics({ topics: ['away.registry'] });
      const topicNames = () => brokers.admin.listTopics();
      await eventually('the registry to be deleted', async () => !(await topicNames()).includes('away.registry'));
      await brokers.stopSecond();
    });

    test('appends to other partitions succeed; appends to it are refused', async () => {
      await eventually(
        'the partition has no leader',
        async () => (await append(log, 'events.raw'))[LEADERLESS] === 'refused',
      );
      await becomes(log, 'events.raw', withoutLeader);
      await becomes(log, 'events.enriched', ALL_STORED);
    });

    test('a role starts and is ready; the partition has an alarm', async () => {
      const started = await open('own.');
      await becomes(started, 'events.raw', withoutLeader);
      await eventually('ready', () => started.ping().then(() => true));
      expect(await started.drift()).toContainEqual(
        expect.objectContaining({ topic: 'own.events.raw', found: String(LEADERLESS), fatal: false }),
      );
      expect(await started.drift()).toContainEqual(
        expect.objectContaining({
          topic: 'own.events.raw',
          setting: 'replicas',
          wanted: '3',
          found: '1',
          fatal: false,
        }),
      );
    });

    test('a member to which the partition is assigned consumes its other partitions', async () => {
      const reader = await startMember(log, 'events.raw', { commitEach: true });
      await reader.has(0, 1);
      await reader.has(2, 1);
      await reader.subscription.close();
      const next = await startMember(log, 'events.raw', {});
      await becomes(log, 'events.raw', withoutLeader);
      await next.has(0, 1);
      await next.subscription.close();
      expect(await log.positions('events.raw', 'group', [0])).toMatchObject([{ partition: 0 }]);
      const all = [log.positions('events.raw', 'group'), log.offsetsAtTime('events.raw', 0)];
      for (const { reason } of (await Promise.allSettled(all)) as PromiseRejectedResult[]) {
        expect(reason).toMatchObject({ code: 'event_log_unavailable' });
        expect(reason.message).toContain(`own.events.raw/${LEADERLESS} has no leader`);
      }
    });

    test('if no partition of events.raw has a leader, a start without the registry waits, and does not create it', async () => {
      // If the first start created the registry, the second one would succeed.
      for (let start = 0; start < 2; start++) {
        await expect(open('away.')).rejects.toMatchObject({ code: 'event_log_unavailable' });
      }
    });

    test('if the partition belongs to another application, a new log is created beside it and accepts records', async () => {
      const beside = await open('beside.');
      await becomes(beside, 'events.raw', ALL_STORED);
    });
  });
});

/** Counts the connections that this process opens from now on. */
function watchConnections() {
  const ports: (number | undefined)[] = [];
  const onSocket = (message: unknown): void => {
    const { socket } = message as { readonly socket: Socket };
    socket.once('connect', () => ports.push(socket.remotePort));
  };
  subscribe('net.client.socket', onSocket);
  return {
    to: (port: number) => ports.filter((one) => one === port).length,
    end: () => void unsubscribe('net.client.socket', onSocket),
  };
}

import { eventually } from '@weir/testkit/eventually';
import type { WeirProcess } from '@weir/testkit/weir-process';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import type { Fault, Round } from '../../faults/suite/fault.ts';
import { redisCommand } from '../redis-command.ts';
import { registryBackup } from '../registry-backup.ts';
import { refusesRequests } from './broker-faults.ts';
import { DEPLOYED, type Deployed } from './deployed-subject.ts';
import { oneOf } from './take-over.ts';

const RAW = 'events.raw';
const ENRICHED = 'events.enriched';
const REGISTRY = 'registry';
const ENRICHER_GROUP = 'weir-enricher.events.raw';
/** A heading in docs/operations.md. If a process does not start because a topic is missing, its error must name this heading. */
const WHAT_TO_DO = 'A topic was deleted';
const SETTLES_WITHIN_MS = 180_000;

async function withAdmin<T>({ weir }: Deployed, work: (admin: Admin) => Promise<T>): Promise<T> {
  const admin = new Kafka({ brokers: [weir.services.kafka.address], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

/** The topics of Weir. Kafka's own topics begin with `__`. */
const topicsOf = (broken: Deployed): Promise<readonly string[]> =>
  withAdmin(broken, async (admin) => (await admin.listTopics()).filter((name) => !name.startsWith('__')));

async function deleteTopics(broken: Deployed, topics: readonly string[]): Promise<void> {
  await withAdmin(broken, (admin) => admin.deleteTopics({ topics: [...topics] }));
  await eventually('the topics to be deleted', async () => {
    const left = await topicsOf(broken);
    return topics.every((topic) => !left.includes(topic));
  });
}

const processesOf = ({ weir }: Deployed): readonly WeirProcess[] => [
  weir.control,
  ...weir.gateways,
  ...weir.enrichers,
  ...weir.writers,
];
const stop = async (processes: readonly WeirProcess[]): Promise<void> =>
  void (await Promise.all(processes.map((one) => one.terminate())));
const start = async (processes: readonly WeirProcess[]): Promise<void> =>
  void (await Promise.all(processes.map((one) => one.restart())));

/** Makes Weir unreachable for clients, waits until all acknowledged records are stored, and then runs `work`. */
async function withEverythingStored({ client, clientProxies }: Deployed, work: () => Promise<void>): Promise<void> {
  for (const proxy of clientProxies) proxy.set('away');
  try {
    await client.settled(SETTLES_WITHIN_MS);
    await work();
  } finally {
    for (const proxy of clientProxies) proxy.set('pass');
  }
}

/** Restarts one process. It must end with an error that says what to do, and must not create the topic again. */
async function refusesToStart(broken: Deployed, topic: string, round: Round): Promise<void> {
  const victim = oneOf(processesOf(broken), round);
  await victim.kill9();
  const error = await victim.restart().then(
    () => undefined,
    (reason: Error) => reason,
  );
  const text = error?.message ?? 'it started';
  if (!(text.includes(topic) && text.includes(WHAT_TO_DO))) round.found(`a start without ${topic}: ${text}`);
  if ((await topicsOf(broken)).includes(topic)) round.found(`${topic} was created again`);
}

/**
 * Each fault deletes a topic, and then follows the steps of docs/operations.md. A deleted `events.raw` loses the records that are not stored yet.
 * Therefore all records are stored before this deletion.
 */
export const TOPIC_FAULTS: readonly Fault<Deployed>[] = [
  {
    ...{ ...DEPLOYED, name: 'raw-topic-deleted', forgetsVisits: true },
    about:
      '`events.raw` is deleted when everything is stored; processes refuse records, and refuse to start; then a new log is begun',
    async strike(broken, round) {
      const { address } = broken.weir.services.kafka;
      await withEverythingStored(broken, () => deleteTopics(broken, [RAW]));
      await refusesRequests(round);
      await refusesToStart(broken, RAW, round);
      const dump = await registryBackup(address, ['dump']);
      await stop(processesOf(broken));
      await deleteTopics(broken, await topicsOf(broken));
      await registryBackup(address, ['restore', '--new-log'], dump);
      round.over();
      await start(processesOf(broken));
    },
  },
  {
    ...{ ...DEPLOYED, name: 'enriched-topic-deleted' },
    about:
      '`events.enriched` is deleted at a random moment; then the enrichers process `events.raw` again from its beginning',
    async strike(broken) {
      const { enrichers, writers, services } = broken.weir;
      await deleteTopics(broken, [ENRICHED]);
      await stop([...enrichers, ...writers]);
      await withAdmin(broken, (admin) =>
        eventually('the group of the enrichers to be deleted', () => admin.deleteGroups([ENRICHER_GROUP])),
      );
      await redisCommand(services.redis.address, 'FLUSHALL');
      await start([...enrichers, ...writers]);
    },
  },
  {
    ...{ ...DEPLOYED, name: 'registry-topic-deleted' },
    about: '`registry` is deleted; processes refuse to start; then the topic is restored from a dump',
    async strike(broken, round) {
      const { address } = broken.weir.services.kafka;
      const dump = await registryBackup(address, ['dump']);
      await deleteTopics(broken, [REGISTRY]);
      await refusesToStart(broken, REGISTRY, round);
      await stop(processesOf(broken));
      await registryBackup(address, ['restore'], dump);
      round.over();
      await start(processesOf(broken));
    },
  },
];

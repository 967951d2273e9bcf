import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type KafkaEventLog, openKafkaEventLog } from '@weir/adapters/kafka/kafka-event-log';
import type { TopicsSpec } from '@weir/adapters/kafka/kafka-topics';
import { openLogRegistry } from '@weir/adapters/registry/log-registry';
import {
  GROUP_ARCHIVER,
  GROUP_ENRICHER,
  GROUP_IMPORTS,
  GROUP_PARQUET,
  GROUP_REPLAY,
  GROUP_REPLAY_ENRICHER,
  GROUP_REPLAY_WRITER,
  GROUP_WRITER,
  TABLE_REGISTRY,
  TABLE_SALTS,
  TOPIC_ENRICHED,
  TOPIC_RAW,
  TOPIC_REPLAYED,
} from '@weir/domain/records/topics';
import { followOutcomes, readDecidedOutcomes } from '@weir/enricher/pipeline/decided-outcomes';
import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import { localProblem } from '@weir/testkit/live-local';
import kafkajs from 'kafkajs';
import topics from '../../infra/kafka/topics.json' with { type: 'json' };
import { startKafkaOfCompose } from './kafka-of-compose.ts';
import { ROOT, readJson } from './read-files.ts';

type Rule = { readonly topic?: string; readonly group?: string; readonly of?: string; readonly allow: string[] };
const acls = readJson<Record<string, Rule[]>>('infra/kafka/acls.json');

describe('infra/kafka/acls.json', () => {
  test('has the topics of topics.json and the groups of the roles', () => {
    const rules = Object.values(acls).flat();
    expect(new Set(rules.flatMap(({ topic }) => topic ?? []))).toEqual(new Set(Object.keys(topics.topics)));
    expect(Object.keys(topics.topics)).toEqual([
      TOPIC_RAW,
      TOPIC_ENRICHED,
      TOPIC_REPLAYED,
      TABLE_REGISTRY,
      TABLE_SALTS,
    ]);
    const groups = rules.filter(({ group }) => group !== undefined).map(({ group, of }) => `${group}.${of}`);
    expect(new Set(groups)).toEqual(
      new Set([
        `${GROUP_ENRICHER}.${TOPIC_RAW}`,
        `${GROUP_ENRICHER}.${TOPIC_ENRICHED}`,
        `${GROUP_WRITER}.${TOPIC_ENRICHED}`,
        `${GROUP_WRITER}.${TOPIC_RAW}`,
        `${GROUP_IMPORTS}.${TABLE_REGISTRY}`,
        `${GROUP_PARQUET}.${TABLE_REGISTRY}`,
        `${GROUP_REPLAY}.${TABLE_REGISTRY}`,
        `${GROUP_REPLAY_WRITER}.${TOPIC_ENRICHED}`,
        `${GROUP_REPLAY_WRITER}.${TOPIC_REPLAYED}`,
        `${GROUP_REPLAY_ENRICHER}.${TOPIC_RAW}`,
        `${GROUP_ARCHIVER}.${TOPIC_RAW}`,
        `${GROUP_ARCHIVER}.${TOPIC_ENRICHED}`,
      ]),
    );
  });
});

const problem = localProblem('kafka');
(problem === undefined ? describe : describe.skip)(`the broker of docker-compose.yml ${problem ?? ''}`, () => {
  const logger = createLogger('silent');
  const passwords: Record<string, string> = { KAFKA_CLUSTER_ID: 'MkU3OEVBNTcwNTJENDM2Qk' };
  for (const user of ['ADMIN', 'GATEWAY', 'ENRICHER', 'WRITER', 'CONTROL']) {
    passwords[`KAFKA_${user}_PASSWORD`] = `secretOf${user}`;
  }
  let kafka: Awaited<ReturnType<typeof startKafkaOfCompose>>;
  const logs: Record<string, KafkaEventLog> = {};

  beforeAll(async () => {
    kafka = await startKafkaOfCompose(passwords);
    await eventually('the rules are set', () => applyAcls(), 150_000);
    for (const role of ['gateway', 'enricher', 'writer', 'control']) logs[role] = await openLog(role);
  }, 300_000);

  afterAll(async () => {
    for (const log of Object.values(logs)) await log.close();
    await kafka?.stop();
  });

  function applyAcls(): boolean {
    const env = {
      PATH: process.env.PATH,
      KAFKA_BROKERS: kafka.brokers,
      KAFKA_SASL_USERNAME: 'broker',
      KAFKA_SASL_PASSWORD: passwords.KAFKA_ADMIN_PASSWORD,
    };
    const run = spawnSync(process.execPath, [join(ROOT, 'infra/kafka/apply-acls.mjs')], { env, encoding: 'utf8' });
    if (run.status !== 0) throw new Error(run.stderr.slice(-2000));
    return true;
  }

  const openLog = (role: string) =>
    openKafkaEventLog({
      brokers: [kafka.brokers],
      clientId: 'weir',
      sasl: { mechanism: 'plain', username: `weir-${role}`, password: `secretOf${role.toUpperCase()}` },
      topics: topics as TopicsSpec,
      partitions: 2,
      rawRetentionMs: 72 * 3_600_000,
      enrichedRetentionMs: 30 * 24 * 3_600_000,
      appendDeadlineMs: 20_000,
      logger,
    });
  const append = (role: string, topic: string) =>
    logs[role]!.append(topic, [{ partition: 0, value: Buffer.from(`${role} was here`), headers: {} }]);

  /** Consumes the topic until some records are read, and commits their offset. Rejects with the last error after more than `failuresMax` failures. */
  async function consumeAll(role: string, topic: string, group: string, failuresMax = 2): Promise<readonly string[]> {
    const seen: string[] = [];
    const failures: unknown[] = [];
    const subscription = await logs[role]!.consume({
      topic,
      group,
      open: async (handle) => ({
        async handle(records) {
          seen.push(...records.map(({ value }) => Buffer.from(value).toString()));
          await handle.commit({ offset: (records.at(-1)?.offset ?? 0) + 1, metadata: 'planned' });
        },
        close: async () => undefined,
      }),
      onError(error) {
        failures.push(error);
      },
    });
    await eventually('something is read, or refused', () => seen.length > 0 || failures.length > failuresMax, 150_000);
    await subscription.close();
    if (seen.length === 0) throw failures.at(-1);
    return seen;
  }

  test('each role can open the log and the registry, whatever the order of the roles', async () => {
    expect(new Set(Object.values(logs).map(({ logId }) => logId)).size).toBe(1);
    for (const log of Object.values(logs)) {
      const registry = await openLogRegistry({
        eventLog: log,
        clock: Date.now,
        randomSalt: () => 'ab'.repeat(32),
        onDamage: (error) => {
          throw error;
        },
      });
      await registry.close();
      await log.ping();
      await log.drift();
    }
  });

  test('each role can append only to its topics', async () => {
    const allowed = {
      [TOPIC_RAW]: ['gateway', 'control'],
      [TOPIC_ENRICHED]: ['enricher'],
      [TOPIC_REPLAYED]: ['control'],
    };
    for (const [topic, writers] of Object.entries(allowed)) {
      for (const role of Object.keys(logs)) {
        const [outcome] = await append(role, topic);
        const wanted = writers.includes(role) ? { status: 'stored' } : { status: 'refused' };
        expect({ role, topic, ...outcome }).toMatchObject({ role, topic, ...wanted });
      }
    }
  });

  test('the enricher and the writer can consume and commit in their own group; control can read their offsets', async () => {
    expect(await consumeAll('enricher', TOPIC_RAW, GROUP_ENRICHER, 100)).toEqual([
      'gateway was here',
      'control was here',
    ]);
    expect(await consumeAll('writer', TOPIC_ENRICHED, GROUP_WRITER, 100)).toEqual(['enricher was here']);
    const committed = async (topic: string, group: string) =>
      (await logs.control!.positions(topic, group)).map((position) => position.committed);
    // On a busy machine, the broker can store an offset after the client has stopped waiting for the answer.
    await eventually('the offsets are stored', async () => {
      expect(await committed(TOPIC_RAW, GROUP_ENRICHER)).toEqual([2, undefined]);
      expect(await committed(TOPIC_ENRICHED, GROUP_WRITER)).toEqual([1, undefined]);
      return true;
    });
  });

  test('control reads the records of both topics without a group; the gateway reads none', async () => {
    const [raw] = await logs.control!.read(TOPIC_RAW, 0, 0, 1024);
    const [enriched] = await logs.control!.read(TOPIC_ENRICHED, 0, 0, 1024);
    expect([raw, enriched].map((one) => Buffer.from(one?.value ?? []).toString())).toEqual([
      'gateway was here',
      'enricher was here',
    ]);
    await expect(logs.gateway!.read(TOPIC_RAW, 0, 0, 1024)).rejects.toThrow(/authoriz/i);
  });

  test('the enricher and control read the decided outcomes of a partition', async () => {
    for (const partition of [0, 1]) {
      expect((await readDecidedOutcomes(logs.enricher!, partition, 0)).to).toBe(0);
      expect(await followOutcomes(logs.control!, partition).read(0, 1)).toEqual(new Map());
    }
  });

  test('only control removes records, and only those that a replay has made', async () => {
    await logs.control!.removeBefore(TOPIC_REPLAYED, [1, 0]);
    expect((await logs.control!.positions(TOPIC_REPLAYED, GROUP_REPLAY_WRITER))[0]).toMatchObject({ first: 1, end: 1 });
    await expect(logs.control!.removeBefore(TOPIC_RAW, [1, 0])).rejects.toThrow(/authoriz/i);
    await expect(logs.enricher!.removeBefore(TOPIC_REPLAYED, [1, 0])).rejects.toThrow(/authoriz/i);
  });

  test('a consumer can read the end offsets that it must not go beyond', async () => {
    const ends = async (role: string, topic: string, group: string) =>
      (await logs[role]!.positions(topic, group)).every(({ end }) => end >= 0);
    expect(await ends('enricher', TOPIC_RAW, GROUP_ENRICHER)).toBe(true);
    expect(await ends('writer', TOPIC_RAW, GROUP_WRITER)).toBe(true);
    expect(await ends('writer', TOPIC_ENRICHED, GROUP_WRITER)).toBe(true);
  });

  test('no role can consume in the group of another role', async () => {
    // kafkajs reports a missing permission with one of these two messages. The second one can also mean that the group has no coordinator. That is
    // impossible here: an earlier test has consumed in a group, so the broker has coordinators.
    const refused = /not authorized|Failed to find group coordinator/i;
    await expect(consumeAll('gateway', TOPIC_RAW, GROUP_ENRICHER)).rejects.toThrow(refused);
    await expect(consumeAll('writer', TOPIC_RAW, GROUP_WRITER)).rejects.toThrow(refused);
    await expect(consumeAll('control', TOPIC_ENRICHED, GROUP_WRITER)).rejects.toThrow(refused);
  });

  test('no role can alter or delete topics, and a wrong password is refused', async () => {
    const connect = (username: string, password: string) =>
      new kafkajs.Kafka({
        brokers: [kafka.brokers],
        sasl: { mechanism: 'plain', username, password },
        retry: { retries: 0 },
        logLevel: kafkajs.logLevel.NOTHING,
      }).admin();
    for (const role of Object.keys(logs)) {
      const admin = connect(`weir-${role}`, passwords[`KAFKA_${role.toUpperCase()}_PASSWORD`]!);
      await admin.connect();
      await expect(admin.deleteTopics({ topics: [TOPIC_RAW] })).rejects.toThrow(/not authorized/i);
      await expect(admin.createTopics({ topics: [{ topic: 'another' }] })).rejects.toThrow();
      const entry = { name: 'retention.ms', value: '1' };
      const resources = [{ type: kafkajs.ConfigResourceTypes.TOPIC, name: TOPIC_RAW, configEntries: [entry] }];
      await expect(admin.alterConfigs({ validateOnly: true, resources })).rejects.toThrow(/not authorized|authoriz/i);
      await admin.disconnect();
    }
    await expect(connect('weir-gateway', 'wrong').connect()).rejects.toThrow(/authentication/i);
  });
});

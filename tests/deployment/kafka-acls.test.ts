import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { type KafkaEventLog, openKafkaEventLog } from '@weir/adapters/kafka-event-log';
import type { TopicsSpec } from '@weir/adapters/kafka-topics';
import { openLogRegistry } from '@weir/adapters/log-registry';
import { GROUP_ENRICHER, GROUP_WRITER, TABLE_REGISTRY, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/topics';
import type { LogRecord } from '@weir/ports/event-log';
import { eventually } from '@weir/testkit/eventually';
import { localProblem } from '@weir/testkit/live-local';
import kafkajs from 'kafkajs';
import { pino } from 'pino';
import topics from '../../infra/kafka/topics.json' with { type: 'json' };
import { startKafkaOfCompose } from './kafka-of-compose.ts';
import { ROOT, readJson } from './read-files.ts';

type Rule = { readonly topic?: string; readonly group?: string; readonly of?: string; readonly allow: string[] };
const acls = readJson<Record<string, Rule[]>>('infra/kafka/acls.json');

describe('infra/kafka/acls.json', () => {
  test('names the topics of topics.json and the groups of the roles', () => {
    const rules = Object.values(acls).flat();
    expect(new Set(rules.flatMap(({ topic }) => topic ?? []))).toEqual(new Set(Object.keys(topics.topics)));
    expect(Object.keys(topics.topics)).toEqual([TOPIC_RAW, TOPIC_ENRICHED, TABLE_REGISTRY]);
    const groups = rules.filter(({ group }) => group !== undefined).map(({ group, of }) => `${group}.${of}`);
    expect(new Set(groups)).toEqual(new Set([`${GROUP_ENRICHER}.${TOPIC_RAW}`, `${GROUP_WRITER}.${TOPIC_ENRICHED}`]));
  });
});

const problem = localProblem('kafka');
(problem === undefined ? describe : describe.skip)(`the broker of docker-compose.yml ${problem ?? ''}`, () => {
  const logger = pino({ level: 'silent' });
  const passwords: Record<string, string> = { KAFKA_CLUSTER_ID: 'MkU3OEVBNTcwNTJENDM2Qk' };
  for (const user of ['ADMIN', 'GATEWAY', 'ENRICHER', 'WRITER', 'CONTROL']) {
    passwords[`KAFKA_${user}_PASSWORD`] = `secretOf${user}`;
  }
  let kafka: Awaited<ReturnType<typeof startKafkaOfCompose>>;
  const logs: Record<string, KafkaEventLog> = {};

  beforeAll(async () => {
    kafka = await startKafkaOfCompose(passwords);
    await eventually('the rules are set', () => applyAcls(), 90_000);
    for (const role of ['gateway', 'enricher', 'writer', 'control']) logs[role] = await openLog(role);
  }, 180_000);

  afterAll(async () => {
    for (const log of Object.values(logs)) await log.close();
    await kafka?.stop();
  }, 60_000);

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
      rawRetentionHours: 72,
      enrichedRetentionDays: 30,
      clock: Date.now,
      logger,
    });
  const append = (role: string, topic: string) =>
    logs[role]!.append(topic, [{ partition: 0, value: Buffer.from(`${role} was here`), headers: {} }]);

  async function consume(role: string, topic: string, group: string): Promise<readonly LogRecord[]> {
    const seen: LogRecord[] = [];
    const errors: unknown[] = [];
    const subscription = await logs[role]!.consume({
      topic,
      group,
      onError: (error: unknown) => void errors.push(error),
      open: async ({ commit }: never) => ({ commit }),
    } as never).catch((error: unknown) => {
      throw error;
    });
    await subscription.close();
    if (errors.length > 0) throw errors[0];
    return seen;
  }

  test('each role opens the log and its registry, whichever comes first', async () => {
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
});

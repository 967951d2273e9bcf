import { randomUUID } from 'node:crypto';
import type { AppendOutcome, EventLog } from '@weir/ports/event-log';
import { eventually } from '@weir/testkit/eventually';
import { readMetric, sendHttp } from '@weir/testkit/http-client';
import { describeLive } from '@weir/testkit/live-ports';
import { bearer } from '@weir/testkit/weir-client';
import { startWeir, type WeirProcess } from '@weir/testkit/weir-process';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import topicsJson from '../../../../infra/kafka/topics.json' with { type: 'json' };
import { openKafkaFixtureLog } from './kafka-fixture-log.ts';

const RAW = 'events.raw';
const ENRICHED = 'events.enriched';
const PARTITIONS = [0, 1, 2];
const REQUESTS = 10;

describeLive('kafka', (brokers) => {
  let admin: Admin;
  beforeAll(async () => {
    admin = new Kafka({ brokers: brokers().split(','), logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
  });
  afterAll(() => admin.disconnect());
  let weir: WeirProcess | undefined;
  afterEach(() => weir?.stop());

  const exists = async (topic: string): Promise<boolean> => (await admin.listTopics()).includes(topic);
  const open = (prefix: string) => openKafkaFixtureLog(brokers(), prefix, 0);
  /** Appends one record to each partition and returns the outcomes. */
  async function append(log: EventLog, topic = RAW) {
    const records = PARTITIONS.map((partition) => ({ partition, value: Buffer.from('x') }));
    return log.append(topic, records);
  }
  const allAre = (outcomes: readonly AppendOutcome[], status: AppendOutcome['status']): boolean =>
    outcomes.every((one) => one.status === status);
  /** Creates a log with at least one record in each partition of `events.raw`. */
  async function filled() {
    const prefix = `test-${randomUUID().slice(0, 8)}.`;
    const log = await open(prefix);
    await eventually('the topic accepts records', async () => allAre(await append(log), 'stored'));
    return { prefix, log };
  }
  async function deleteTopic(topic: string): Promise<void> {
    await admin.deleteTopics({ topics: [topic] });
    await eventually(`${topic} to be deleted`, async () => !(await exists(topic)));
  }
  async function createTopic(prefix: string, name: typeof RAW | 'registry', numPartitions: number): Promise<void> {
    const configEntries = Object.entries(topicsJson.topics[name].config).map(([name, value]) => ({ name, value }));
    const topic = { topic: prefix + name, numPartitions, configEntries };
    await eventually('the topic to be created again', async () => {
      await admin.createTopics({ topics: [topic] });
      return exists(topic.topic);
    });
  }
  const createRaw = (prefix: string) => createTopic(prefix, RAW, PARTITIONS.length);

  test('a start without events.raw is refused, and does not create the topic', async () => {
    const { prefix, log } = await filled();
    await log.close();
    await deleteTopic(`${prefix}${RAW}`);
    await expect(open(prefix)).rejects.toMatchObject({
      code: 'event_log_damaged',
      message: expect.stringMatching(`${prefix}${RAW} of the log ${log.logId} does not exist.*A topic was deleted`),
    });
    expect(await exists(`${prefix}${RAW}`)).toBe(false);
  });

  test('a start without the registry of a log with records is refused, and does not create the topic', async () => {
    const { prefix, log } = await filled();
    await log.close();
    await deleteTopic(`${prefix}registry`);
    await expect(open(prefix)).rejects.toMatchObject({
      code: 'event_log_damaged',
      message: expect.stringMatching(
        `${prefix}registry does not exist, but ${prefix}${RAW} has records.*A topic was deleted`,
      ),
    });
    expect(await exists(`${prefix}registry`)).toBe(false);
  });

  describe('a start without events.raw and registry', () => {
    async function withoutBoth(log: EventLog, prefix: string): Promise<void> {
      await log.close();
      for (const topic of [RAW, 'registry']) await deleteTopic(prefix + topic);
    }

    test('is refused if events.enriched has records, and does not create the topics', async () => {
      const { prefix, log } = await filled();
      await eventually('the outcomes', async () => allAre(await append(log, ENRICHED), 'stored'));
      await withoutBoth(log, prefix);
      await expect(open(prefix)).rejects.toMatchObject({
        code: 'event_log_damaged',
        message: expect.stringMatching(
          `${prefix}${ENRICHED} has records of a log that no longer exists.*A topic was deleted`,
        ),
      });
      expect([await exists(`${prefix}${RAW}`), await exists(`${prefix}registry`)]).toEqual([false, false]);
      // Now the topic `registry` exists without the ID of a log, as after a restore with --new-log. The log can be opened only if `events.enriched`
      // does not exist.
      await createTopic(prefix, 'registry', 1);
      await expect(open(prefix)).rejects.toMatchObject({ code: 'event_log_damaged' });
      await deleteTopic(`${prefix}${ENRICHED}`);
      const next = await open(prefix);
      expect(next.logId).not.toBe(log.logId);
      await next.close();
    });

    test('begins a new log if events.enriched has never had a record', async () => {
      const { prefix, log } = await filled();
      await withoutBoth(log, prefix);
      const next = await open(prefix);
      expect(next.logId).not.toBe(log.logId);
      await next.close();
    });
  });

  test('another deleted topic is created again', async () => {
    const { prefix, log } = await filled();
    await log.close();
    await deleteTopic(`${prefix}events.enriched`);
    const again = await open(prefix);
    expect(again.logId).toBe(log.logId);
    await again.close();
  });

  test('records in an events.raw that was created again are not acknowledged, and no process starts with it', async () => {
    const { prefix, log } = await filled();
    await deleteTopic(`${prefix}${RAW}`);
    await createRaw(prefix);
    const statuses = new Set<string>();
    const refused = await eventually('the log to notice it', async () => {
      const outcomes = await append(log);
      for (const { status } of outcomes) statuses.add(status);
      return outcomes.some((one) => one.status === 'refused' && one.reason.includes('created again')) && outcomes;
    });
    expect(allAre(refused, 'refused')).toBe(true);
    expect(statuses).not.toContain('stored');
    await expect(log.ping()).rejects.toMatchObject({ code: 'event_log_unavailable' });
    await expect(log.drift()).rejects.toMatchObject({
      code: 'event_log_damaged',
      message: expect.stringContaining(`the topic was deleted and created again`),
    });
    await expect(open(prefix)).rejects.toMatchObject({
      code: 'event_log_damaged',
      message: expect.stringMatching(`${prefix}${RAW} was deleted and created again: its ID is .*A topic was deleted`),
    });
    await log.close();
  });

  test('a process that appends nothing notices that events.raw was created again', async () => {
    const { prefix, log } = await filled();
    await log.close();
    const idle = await open(prefix);
    await deleteTopic(`${prefix}${RAW}`);
    await createRaw(prefix);
    await eventually('the comparison to find it', () =>
      idle.drift().then(
        () => false,
        ({ code }: { readonly code: string }) => code === 'event_log_damaged',
      ),
    );
    await eventually('appends to be refused', async () => allAre(await append(idle), 'refused'));
    await idle.close();
  });

  test('gateway processes that append nothing notice that events.raw was created again', async () => {
    const prefix = `test-${randomUUID().slice(0, 8)}.`;
    const kafka = { KAFKA_BROKERS: brokers(), KAFKA_TOPIC_PREFIX: prefix, WEIR_PARTITIONS: `${PARTITIONS.length}` };
    const env = { ...kafka, WEIR_GATEWAY_PROCESSES: '2', WEIR_GUARD_INTERVAL_SECONDS: '1' };
    weir = await startWeir({ roles: ['gateway'], env });
    const { url, output } = weir;
    await eventually('both processes', async () => (await readMetric(url, 'weir_gateway_processes')) === 2);
    const key = await eventually('the key in the banner', () => /Bearer (wk_\S+?)'/.exec(output())?.[1]);
    const event = () => sendHttp(url, { path: '/api/v1/events', headers: bearer(key), body: { name: 'x' } });
    await deleteTopic(`${prefix}${RAW}`);
    await createRaw(prefix);
    // Each of the three processes writes this line once: the main process and both gateway processes.
    const line = `"msg":"${prefix}${RAW} was deleted and created again`;
    await eventually('all processes to find it', () => output().split(line).length - 1 === 3);
    // Each request uses its own connection, so both gateway processes receive requests.
    const answers = await Promise.all(Array.from({ length: REQUESTS }, event));
    expect(answers.map(({ status }) => status)).toEqual(Array(REQUESTS).fill(503));
  }, 300_000);
});

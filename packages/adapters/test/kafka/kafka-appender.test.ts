import { createLogger } from '@weir/runtime/logger';
import type { Broker, Cluster } from 'kafkajs';
import { kafkaCompression } from '../../src/kafka/kafka-compression.ts';
import { ping } from '../../src/kafka/kafka-leaders.ts';
import { type KafkaLink, leaderOf } from '../../src/kafka/kafka-link.ts';
import { createAppendRun, type RunOutcome } from '../../src/kafka/produce/append-run.ts';
import { createKafkaAppender } from '../../src/kafka/produce/kafka-appender.ts';
import { produce } from '../../src/kafka/produce/kafka-produce.ts';

const compression = kafkaCompression('none');
const messageBytesMax = () => 16 * 1024 * 1024;
const record = { key: null, value: Buffer.from('a'), headers: {} };
const NOT_LEADER = 6;
const NOT_ENOUGH_REPLICAS_AFTER_APPEND = 20;

interface Answer {
  readonly errorCode: number;
  readonly baseOffset: string;
}

/** A broker that answers each produce request for partition 0 of `t` with `answer`, in the format of kafkajs. */
function brokerThatSays(answer: () => Answer): Broker {
  const partitions = () => [{ partition: 0, ...answer() }];
  const said = {
    connectionPool: {},
    produce: async () => ({ topics: [{ topicName: 't', partitions: partitions() }] }),
  };
  return said as unknown as Broker;
}

/** A cluster with the brokers 1 and 2. `leaders[p]` is the leader of partition p of each topic. */
function clusterOf(leaders: readonly number[], more: object = {}): Cluster {
  const brokers = [1, 2].map((nodeId) => ({ nodeId, host: `broker-${nodeId}`, port: 9092 }));
  const partitionMetadata = leaders.map((leader, partitionId) => ({ partitionId, leader }));
  const topicMetadata = ['t', 'u'].map((topic) => ({ topic, partitionMetadata }));
  const brokerPool = { metadata: { brokers, topicMetadata } };
  return { findTopicPartitionMetadata: () => partitionMetadata, brokerPool, ...more } as unknown as Cluster;
}

/** A link to a cluster of `clusterOf`. Each `runOn` calls `findBroker`. */
const linkTo = (findBroker: () => Promise<Broker>, leaders = [1], refreshLeaders = () => undefined): KafkaLink => ({
  run: (work) => work(clusterOf(leaders)),
  runOn: async (_, work) => work(await findBroker()),
  leaders: async () => (topic, partition) => leaderOf(clusterOf(leaders), topic, partition),
  refreshLeaders,
  close: async () => undefined,
});

describe('a failed produce request is retried only if nothing was stored', () => {
  async function outcomeOf(answer: Answer): Promise<RunOutcome | 'again'> {
    const { run, outcome } = createAppendRun('t', 0, [record], 0);
    const again = await produce(
      brokerThatSays(() => answer),
      [run],
      compression,
      1000,
    );
    return again.length > 0 ? 'again' : outcome;
  }

  test('NOT_LEADER without an offset is retried: the former leader has stored nothing', async () => {
    expect(await outcomeOf({ errorCode: NOT_LEADER, baseOffset: '-1' })).toBe('again');
  });

  test.each([NOT_LEADER, NOT_ENOUGH_REPLICAS_AFTER_APPEND])(
    'error %i with an offset has an unknown outcome: the followers may have the batch',
    async (errorCode) => {
      expect(await outcomeOf({ errorCode, baseOffset: '41' })).toMatchObject({ status: 'unknown' });
    },
  );
});

test('a request that was abandoned while it looked for its broker is sent once, over new connections', async () => {
  let stored = 0;
  const broker = brokerThatSays(() => ({ errorCode: 0, baseOffset: String(stored++) }));
  let found: (broker: Broker) => void = () => undefined;
  const late = new Promise<Broker>((resolve) => (found = resolve));
  let runs = 0;
  let givenUp: Promise<unknown> = Promise.resolve();
  const link: KafkaLink = {
    ...linkTo(async () => broker),
    async runOn(_, work) {
      runs++;
      // The first call rejects before anything is sent, but calls `work` later, when `late` resolves. Later calls work normally.
      if (runs > 1) return work(broker);
      givenUp = late.then(work).catch(() => undefined);
      throw new Error('the connection to Kafka was abandoned');
    },
  };
  const logger = createLogger('silent');
  const appender = createKafkaAppender({
    link,
    deadlineMs: 5000,
    replicationTimeoutMs: 1000,
    compression,
    messageBytesMax,
    logger,
  });
  expect(await appender.append('t', 0, [record])).toEqual({ status: 'stored', base: 0 });
  found(broker);
  await givenUp;
  expect(stored).toBe(1);
});

test('while a partition has no leader, appends to other partitions do not wait for new metadata', async () => {
  const broker = brokerThatSays(() => ({ errorCode: 0, baseOffset: '0' }));
  let asked = 0;
  const link = linkTo(
    async () => broker,
    [1, -1],
    () => {
      asked += 1;
    },
  );
  const logger = createLogger('silent');
  const appender = createKafkaAppender({
    link,
    deadlineMs: 2000,
    replicationTimeoutMs: 1000,
    compression,
    messageBytesMax,
    logger,
  });
  const leaderless = appender.append('t', 1, [record]);
  for (let i = 0; i < 100; i++) expect(await appender.append('t', 0, [record])).toMatchObject({ status: 'stored' });
  expect(await leaderless).toMatchObject({ status: 'refused' });
  expect(asked).toBeGreaterThan(0);
});

test('a batch that the former leader refuses is sent again at each tick, not with each append to another partition', async () => {
  let toFormer = 0;
  interface Sender {
    readonly connectionPool: { send(sent: object): Promise<Buffer> };
  }
  const broker = {
    connectionPool: {
      send: async ({ request }: { readonly request: { encode(): Promise<{ readonly buffer: Buffer }> } }) =>
        (await request.encode()).buffer,
    },
    async produce(this: Sender) {
      const sent = await this.connectionPool.send({ request: {}, response: {} });
      if (sent.includes('moved')) toFormer += 1;
      const moved = { partition: 0, errorCode: NOT_LEADER, baseOffset: '-1' };
      return { topics: [{ topicName: 't', partitions: [moved, { partition: 1, errorCode: 0, baseOffset: '0' }] }] };
    },
  } as unknown as Broker;
  const appender = createKafkaAppender({
    link: linkTo(async () => broker, [1, 1]),
    deadlineMs: 2000,
    replicationTimeoutMs: 1000,
    compression,
    messageBytesMax,
    logger: createLogger('silent'),
  });
  const waits = appender.append('t', 0, [{ ...record, value: Buffer.from('moved') }]);
  for (let i = 0; i < 200; i++) expect(await appender.append('t', 1, [record])).toMatchObject({ status: 'stored' });
  expect(await waits).toMatchObject({ status: 'refused' });
  // Without the pause of 50 ms after a refusal, each of the 200 appends would send the waiting record to the former leader again.
  expect(toFormer).toBeLessThan(100);
});

test('after an append with an unknown outcome, new metadata are requested', async () => {
  let asked = 0;
  const broker = brokerThatSays(() => ({ errorCode: NOT_LEADER, baseOffset: '41' }));
  const refresh = (): undefined => {
    asked += 1;
  };
  const appender = createKafkaAppender({
    link: linkTo(async () => broker, [1], refresh),
    deadlineMs: 5000,
    replicationTimeoutMs: 1000,
    compression,
    messageBytesMax,
    logger: createLogger('silent'),
  });
  expect(await appender.append('t', 0, [record])).toMatchObject({ status: 'unknown' });
  await appender.drain();
  expect(asked).toBe(1);
});

test('a clock that is set back does not change deadlines', async () => {
  const never = () => new Promise<never>(() => undefined);
  const hangs: KafkaLink = { ...linkTo(never), leaders: never };
  const wallClock = Date.now;
  let backMs = 0;
  Date.now = () => wallClock() - backMs;
  try {
    const logger = createLogger('silent');
    const appender = createKafkaAppender({
      link: hangs,
      deadlineMs: 200,
      replicationTimeoutMs: 100,
      compression,
      messageBytesMax,
      logger,
    });
    const outcome = appender.append('t', 0, [record]);
    backMs = 3_600_000;
    expect(await outcome).toMatchObject({ status: 'refused' });
  } finally {
    Date.now = wallClock;
  }
});

/** An appender for partition 0 of `t`. `findBroker` returns the leader. */
function appenderOn(findBroker: () => Promise<Broker>, limits: { deadlineMs: number; messageBytesMax: () => number }) {
  return createKafkaAppender({
    link: linkTo(findBroker),
    ...limits,
    replicationTimeoutMs: 100,
    compression,
    logger: createLogger('silent'),
  });
}

test('a record whose deadline passes while its broker is looked for is refused, and never sent', async () => {
  let sent = 0;
  const broker = brokerThatSays(() => ({ errorCode: 0, baseOffset: String(sent++) }));
  let found: (broker: Broker) => void = () => undefined;
  const looking = new Promise<Broker>((resolve) => (found = resolve));
  const appender = appenderOn(() => looking, { deadlineMs: 50, messageBytesMax });
  expect(await appender.append('t', 0, [record])).toMatchObject({ status: 'refused' });
  found(broker);
  await appender.drain();
  expect(sent).toBe(0);
});

test('the records of one turn that exceed the batch limit of their topic go into several requests', async () => {
  let requests = 0;
  const broker = brokerThatSays(() => ({ errorCode: 0, baseOffset: String(requests++) }));
  const appender = appenderOn(async () => broker, { deadlineMs: 5000, messageBytesMax: () => 1024 });
  const large = { key: null, value: Buffer.alloc(500), headers: {} };
  const outcomes = await Promise.all([1, 2, 3].map(() => appender.append('t', 0, [large])));
  expect(outcomes).toMatchObject([{ status: 'stored' }, { status: 'stored' }, { status: 'stored' }]);
  expect(requests).toBe(3);
  const tooLarge = { key: null, value: Buffer.alloc(1024), headers: {} };
  expect(await appender.append('t', 0, [tooLarge])).toMatchObject({ status: 'refused' });
});

describe('ping', () => {
  const answering = new Set<number>();
  const linkWith = (refreshMetadata: () => Promise<void>): KafkaLink => ({
    ...linkTo(() => new Promise(() => undefined)),
    run: (work) => work(clusterOf([1, 2, -1], { refreshMetadata })),
    async runOn({ nodeId }, work) {
      if (!answering.has(nodeId)) throw new Error('this broker does not answer');
      const partitions = [0, 1, 2].map((partition) => ({ partition, offset: '0' }));
      return work({ listOffsets: async () => ({ responses: [{ partitions }] }) } as unknown as Broker);
    },
  });
  beforeEach(() => void answering.clear());

  test('needs the answer of one leader of each topic, not of all', async () => {
    const link = linkWith(async () => undefined);
    answering.add(2);
    await ping(link, ['t', 'u']);
    answering.clear();
    await expect(ping(link, ['t', 'u'])).rejects.toMatchObject({ code: 'event_log_unavailable' });
  });

  test('resolves although the broker that gets the metadata requests does not answer', async () => {
    answering.add(2);
    await ping(
      linkWith(() => Promise.reject(new Error('this broker does not answer'))),
      ['t', 'u'],
    );
  });
});

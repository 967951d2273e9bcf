import { randomUUID } from 'node:crypto';
import { DependencyError } from '@weir/domain/errors';
import { partitionOf } from '@weir/domain/partition-of';
import { TABLE_REGISTRY, TABLE_SALTS, TOPIC_ENRICHED } from '@weir/domain/topics';
import type { AppendOutcome, AppendRecord, EventLog, PartitionPosition } from '@weir/ports/event-log';
import type { KafkaCompressionName } from '@weir/runtime/engine-config';
import type { Logger } from '@weir/runtime/logger';
import { outcomeOf } from './kafka-append-run.ts';
import { createKafkaAppender } from './kafka-appender.ts';
import { FAIL_FAST, type KafkaAddress, type KafkaTimeouts, PATIENT } from './kafka-client.ts';
import { kafkaCompression, readLz4Too } from './kafka-compression.ts';
import { eventLogUnavailable, openingError } from './kafka-errors.ts';
import { createKafkaLink, type KafkaLink, leaderOf, runAgain } from './kafka-link.ts';
import { claimLogId, claimPartitionCount } from './kafka-log-id.ts';
import { readEdges, readOffsetsAtTime } from './kafka-offsets.ts';
import { subscribe } from './kafka-subscription.ts';
import { type KafkaTable, openKafkaTable } from './kafka-table.ts';
import { createKafkaTopics, type TopicDrift, type TopicsSpec } from './kafka-topics.ts';

export interface KafkaEventLogConfig extends KafkaAddress {
  /** infra/kafka/topics.json */
  readonly topics: TopicsSpec;
  /** Partitions of a log that is made now; an existing log keeps its own number. */
  readonly partitions: number;
  readonly rawRetentionHours: number;
  readonly enrichedRetentionDays: number;
  /** Of what is appended; all are read. Default: none. */
  readonly compression?: KafkaCompressionName;
  /** Before the name of every topic and group, for a cluster that is shared. */
  readonly topicPrefix?: string;
  /** Of appends and puts that somebody waits for, and with it the time-outs of all that answers a caller. Default: 1,700. */
  readonly appendDeadlineMs?: number;
  readonly logger: Logger;
}

export interface KafkaEventLog extends EventLog {
  /** What differs now from topics.json: ask every minute. Rejects with `event_log_unavailable`. */
  drift(): Promise<readonly TopicDrift[]>;
}

interface Links {
  readonly query: KafkaLink;
  readonly hasty: KafkaLink;
  readonly steady: KafkaLink;
}

/**
 * Opens the log on Kafka, making topics that are missing. Rejects with `event_log_unavailable`, with `event_log_refused` where
 * the brokers won't have this process, or with `event_log_damaged` where the topics' settings do not allow exactly-once.
 */
export async function openKafkaEventLog(config: KafkaEventLogConfig): Promise<KafkaEventLog> {
  const { logger, topicPrefix = '' } = config;
  const topics = Object.keys(config.topics.topics).map((name) => topicPrefix + name);
  const link = (timeouts: KafkaTimeouts) => createKafkaLink({ address: config, timeouts, topics, logger });
  const { timeouts } = hastyFor(config);
  const links: Links = { query: link(timeouts), hasty: link(timeouts), steady: link(PATIENT) };
  try {
    return await openOver(links, config);
  } catch (error) {
    await Promise.all(Object.values(links).map((one: KafkaLink) => one.close()));
    throw openingError(error);
  }
}

async function openOver(links: Links, config: KafkaEventLogConfig): Promise<KafkaEventLog> {
  const { logger, topicPrefix = '' } = config;
  const named = (name: string) => topicPrefix + name;
  const link = (timeouts: KafkaTimeouts, names: readonly string[]) =>
    createKafkaLink({ address: config, timeouts, topics: names, logger });
  const topics = createKafkaTopics({
    spec: config.topics,
    topicPrefix,
    openLink: (names) =>
      createKafkaLink({ address: config, timeouts: PATIENT, topics: names, mayLackTopics: true, logger }),
    partitions: config.partitions,
    retentionMs: {
      raw: config.rawRetentionHours * 3600_000,
      enriched: config.enrichedRetentionDays * 24 * 3600_000,
      // A day's salt is made when the day begins, and needed until its last record is gone.
      salts: (config.rawRetentionHours + 25) * 3600_000,
    },
  });
  const found = await topics.ensure();
  // Before anything is written: a registry that forgets would be given another identity.
  refuseFatalDrift(await topics.drift());

  const all = Object.keys(config.topics.topics).map(named);
  const eventTopics = all.filter((name) => ![TABLE_REGISTRY, TABLE_SALTS].map(named).includes(name));
  const queryLink = links.query;
  await leadersAnswer(queryLink, all, config.topics, topicPrefix, partitionsOf(found));
  const compression = kafkaCompression(config.compression ?? 'none');
  readLz4Too();
  const hasty = createKafkaAppender({ link: links.hasty, ...hastyFor(config), compression, logger });
  const steady = createKafkaAppender({ link: links.steady, ...STEADY, compression, logger });
  const openTable = (name: string) =>
    openKafkaTable({ link: link(PATIENT, [named(name)]), appender: hasty, topic: named(name), logger });

  const registry = await openTable(TABLE_REGISTRY);
  const { logId, partitionCount } = await claimLife(registry, found).finally(() => registry.close());
  const drift = await topics.drift(partitionCount);
  refuseFatalDrift(drift);
  if (drift.length > 0) {
    logger.warn({ drift: drift.map(toText) }, 'topics are weaker than infra/kafka/topics.json asks for');
  }
  const partitions = partitionsOf(partitionCount);

  async function append(topic: string, records: readonly AppendRecord[]): Promise<readonly AppendOutcome[]> {
    const places = new Map<number, number[]>();
    records.forEach((record, index) => {
      const partition = record.partition ?? partitionOf(record.key ?? '', partitionCount);
      const indexes = places.get(partition);
      if (indexes === undefined) places.set(partition, [index]);
      else indexes.push(index);
    });
    const outcomes = new Array<AppendOutcome>(records.length);
    const appender = topic === TOPIC_ENRICHED ? steady : hasty;
    await Promise.all(
      [...places].map(async ([partition, indexes]) => {
        const run = indexes.map((index) => toKafkaRecord(records[index]!));
        const result = await appender.append(named(topic), partition, run);
        indexes.forEach((index, nth) => {
          outcomes[index] = outcomeOf(result, partition, nth);
        });
      }),
    );
    return outcomes;
  }

  return {
    logId,
    partitionCount,
    append,
    async consume(options) {
      const topic = named(options.topic);
      const groupLink = link(PATIENT, [topic]);
      const fetchLink = link(PATIENT, [topic]);
      return subscribe({ groupLink, fetchLink, topic, groupId: groupId(options.group, topic), logger }, options);
    },
    positions: (topic, group, asked = partitions) =>
      readPositions(queryLink, named(topic), groupId(group, named(topic)), asked).catch((error: unknown) => {
        throw eventLogUnavailable('positions', error);
      }),
    async offsetsAtTime(topic, timeMs) {
      try {
        const found = await readOffsetsAtTime(queryLink, named(topic), partitions, timeMs);
        const edges = await readEdges(queryLink, named(topic), partitions);
        return partitions.map((partition) => found.get(partition) ?? edges.get(partition)?.end ?? 0);
      } catch (error) {
        throw eventLogUnavailable('offsets at a time', error);
      }
    },
    openTable,
    ping: () => ping(queryLink, eventTopics),
    drift: () => topics.drift(partitionCount),
    async close() {
      await Promise.all([hasty, steady].map((appender) => appender.drain()));
      await Promise.all(Object.values(links).map((one: KafkaLink) => one.close()));
    },
  };
}

/** Somebody waits for the answer: a gateway can say 503 within 2 s. */
export const APPEND_DEADLINE_MS = 1700;
const REPLICATION_TIMEOUT_MS = 1000;
/**
 * Nobody waits but the next batch. An append that is given up while a busy broker still works on it is made again, and each
 * repeat makes the broker busier.
 */
const STEADY = { deadlineMs: 8000, replicationTimeoutMs: 4500 };

function hastyFor({ appendDeadlineMs = APPEND_DEADLINE_MS }: KafkaEventLogConfig) {
  const scaled = (ms: number) => Math.round((ms * appendDeadlineMs) / APPEND_DEADLINE_MS);
  return {
    deadlineMs: appendDeadlineMs,
    replicationTimeoutMs: scaled(REPLICATION_TIMEOUT_MS),
    timeouts: {
      connectionTimeoutMs: scaled(FAIL_FAST.connectionTimeoutMs),
      requestTimeoutMs: scaled(FAIL_FAST.requestTimeoutMs),
    },
  };
}

/** One per topic, so that a group's name can be used with two. */
const groupId = (group: string, topic: string) => `${group}.${topic}`;

function toKafkaRecord({ value, headers }: AppendRecord) {
  return {
    key: null,
    value: Buffer.from(value.buffer, value.byteOffset, value.byteLength),
    headers: { ...headers },
  };
}

const partitionsOf = (count: number) => Array.from({ length: count }, (_, partition) => partition);

async function claimLife(registry: KafkaTable, found: number) {
  const logId = await claimLogId(registry, randomUUID);
  return { logId, partitionCount: await claimPartitionCount(registry, found, randomUUID) };
}

function refuseFatalDrift(found: readonly TopicDrift[]): void {
  if (found.some(({ fatal }) => fatal)) throw new DependencyError('event_log_damaged', found.map(toText).join('; '));
}

const toText = ({ topic, setting, wanted, found }: TopicDrift) => `${topic}: ${setting} is ${found}, not ${wanted}`;

/** Attempts of 100 ms: the partitions of new topics are there when the broker has made their files. */
const OPEN_ATTEMPTS = 200;

async function leadersAnswer(
  link: KafkaLink,
  names: readonly string[],
  { topics }: TopicsSpec,
  prefix: string,
  partitions: readonly number[],
): Promise<void> {
  for (const name of names) {
    const count = topics[name.slice(prefix.length)]?.partitions;
    const asked = typeof count === 'number' ? partitions.slice(0, count) : partitions;
    await runAgain(link, OPEN_ATTEMPTS, async (cluster) => {
      // Those without a leader are in `drift`; the others are not kept from work by them.
      const led = asked.filter((partition) => leaderOf(cluster, name, partition) !== undefined);
      const topic = { topic: name, partitions: led.map((partition) => ({ partition })), fromBeginning: true };
      await cluster.fetchTopicsOffset([topic]);
    }).catch((error: unknown) => {
      throw eventLogUnavailable(name, error);
    });
  }
}

/**
 * A partition of each topic has a leader that answers. That others have none is drift: to be not ready for it would take every
 * process out of service.
 */
async function ping(link: KafkaLink, topics: readonly string[]): Promise<void> {
  try {
    await link.run(async (cluster) => {
      await cluster.refreshMetadata();
      const places = topics.map((topic) => {
        const led = cluster.findTopicPartitionMetadata(topic).find(({ leader }) => leader >= 0);
        if (led === undefined) throw new Error(`no partition of ${topic} has a leader`);
        return { topic, partitions: [{ partition: led.partitionId }], fromBeginning: false };
      });
      await cluster.fetchTopicsOffset(places);
    });
  } catch (error) {
    throw eventLogUnavailable('ping', error);
  }
}

async function readPositions(
  link: KafkaLink,
  topic: string,
  group: string,
  partitions: readonly number[],
): Promise<readonly PartitionPosition[]> {
  const edges = await readEdges(link, topic, partitions);
  const committed = await runAgain(link, 10, async (cluster) => {
    const coordinator = await cluster.findGroupCoordinator({ groupId: group });
    const { responses } = await coordinator.offsetFetch({
      groupId: group,
      topics: [{ topic, partitions: partitions.map((partition) => ({ partition, offset: '0' })) }],
    });
    return new Map(
      responses.flatMap((one) => one.partitions.map(({ partition, offset }) => [partition, Number(offset)])),
    );
  });
  return partitions.map((partition) => {
    const { first, end } = edges.get(partition) ?? { first: 0, end: 0 };
    const offset = committed.get(partition) ?? -1;
    return { partition, first, end, committed: offset < 0 ? undefined : offset };
  });
}

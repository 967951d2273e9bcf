import { randomUUID } from 'node:crypto';
import { DependencyError } from '@weir/domain/errors';
import { SALT_KEPT_LONGER_MS } from '@weir/domain/people/salt-times';
import { partitionOf } from '@weir/domain/records/partition-of';
import { TABLE_REGISTRY, TABLE_SALTS, TOPIC_ENRICHED, TOPIC_RAW, TOPIC_REPLAYED } from '@weir/domain/records/topics';
import type { AppendOutcome, AppendRecord, EventLog, PartitionPosition } from '@weir/ports/event-log';
import type { KafkaCompressionName } from '@weir/runtime/config/engine-config';
import type { Logger } from '@weir/runtime/logger';
import type { Cluster } from 'kafkajs';
import { HEARTBEAT_TIMEOUTS, toCommit } from './consume/kafka-group-member.ts';
import { readRecords } from './consume/kafka-read.ts';
import { subscribe } from './consume/kafka-subscription.ts';
import { FAIL_FAST, type KafkaAddress, type KafkaTimeouts, PATIENT } from './kafka-client.ts';
import { kafkaCompression, readLz4Too } from './kafka-compression.ts';
import { refuseDeletedTopics } from './kafka-deleted-topics.ts';
import { eventLogUnavailable, openingError } from './kafka-errors.ts';
import { awaitLeaders, ping } from './kafka-leaders.ts';
import { createKafkaLink, type KafkaLink, withRetry } from './kafka-link.ts';
import { claimLogId, claimPartitionCount, claimRawTopicId, storedLogId } from './kafka-log-id.ts';
import { hasHadRecords, readAllEdges, readEdges, readOffsetsAtTime, removeRecordsBefore } from './kafka-offsets.ts';
import { type KafkaTable, openKafkaTable } from './kafka-table.ts';
import { readTopicId } from './kafka-topic-id.ts';
import { createKafkaTopics, messageBytesMaxOf, type TopicDrift, type TopicsSpec } from './kafka-topics.ts';
import { coordinatorPlace } from './kafkajs-private.ts';
import { outcomeOf } from './produce/append-run.ts';
import { createKafkaAppender } from './produce/kafka-appender.ts';
import { watchForReplacement } from './produce/replaced-topic.ts';

export interface KafkaEventLogConfig extends KafkaAddress {
  /** The content of infra/kafka/topics.json. */
  readonly topics: TopicsSpec;
  /** The number of partitions of a new log. An existing log keeps its number. */
  readonly partitions: number;
  readonly rawRetentionMs: number;
  readonly enrichedRetentionMs: number;
  /** Compression of appended records. Reading does not depend on this setting. Default: none. */
  readonly compression?: KafkaCompressionName;
  /** Prefix of each topic and group name, for a shared cluster. */
  readonly topicPrefix?: string;
  /** Deadline of appends that an HTTP client waits for. All timeouts of such requests scale with it. Default: 1,700. */
  readonly appendDeadlineMs?: number;
  readonly logger: Logger;
}

export interface KafkaEventLog extends EventLog {
  /** Compares the topics with topics.json; call it every minute. Rejects like `refuseReplacedTopic`, and if a topic is missing. */
  drift(): Promise<readonly TopicDrift[]>;
  /**
   * Rejects with `event_log_damaged` if `events.raw` was deleted and created again. This process then refuses all later appends to `events.raw`.
   * Rejects with `event_log_unavailable` if the brokers do not answer.
   */
  refuseReplacedTopic(): Promise<void>;
}

interface Links {
  readonly query: KafkaLink;
  /** The connections for appends to all topics except `events.enriched` and `events.replayed`. An HTTP client can wait for these appends. */
  readonly interactive: KafkaLink;
  /** The connections for `read`, and for appends to `events.enriched` and `events.replayed`. No HTTP client waits for these appends. */
  readonly background: KafkaLink;
}

/**
 * Opens the event log on Kafka and creates missing topics. Rejects with `event_log_unavailable`, with `event_log_refused` when the
 * brokers refuse this process (authentication, TLS), or with `event_log_damaged` when topic settings break exactly-once.
 */
export async function openKafkaEventLog(config: KafkaEventLogConfig): Promise<KafkaEventLog> {
  const { logger, topicPrefix = '' } = config;
  const topics = Object.keys(config.topics.topics).map((name) => topicPrefix + name);
  const link = (timeouts: KafkaTimeouts) => createKafkaLink({ address: config, timeouts, topics, logger });
  const { timeouts } = interactiveLimits(config);
  const links: Links = { query: link(timeouts), interactive: link(timeouts), background: link(PATIENT) };
  try {
    return await openWith(links, config);
  } catch (error) {
    await Promise.all(Object.values(links).map((one: KafkaLink) => one.close()));
    throw openingError(error);
  }
}

async function openWith(links: Links, config: KafkaEventLogConfig): Promise<KafkaEventLog> {
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
      raw: config.rawRetentionMs,
      enriched: config.enrichedRetentionMs,
      salts: config.rawRetentionMs + SALT_KEPT_LONGER_MS,
    },
  });
  const compression = kafkaCompression(config.compression ?? 'none');
  readLz4Too();
  const appending = { compression, messageBytesMax: messageBytesMaxOf(config.topics, topicPrefix), logger };
  const interactive = createKafkaAppender({ link: links.interactive, ...interactiveLimits(config), ...appending });
  const background = createKafkaAppender({ link: links.background, ...BACKGROUND, ...appending });
  const openTable = (name: string) =>
    openKafkaTable({
      ...{ link: link(PATIENT, [named(name)]), queryLink: links.query },
      ...{ appender: interactive, topic: named(name), logger },
    });

  await refuseDeletedTopics({
    topicPrefix,
    missing: topics.missing,
    storedLogId: () => withRegistry(openTable, async (registry) => storedLogId(registry)),
    hasHadRecords: (topic) => hasHadRecords(link(PATIENT, [named(topic)]), named(topic)),
  });
  const found = await topics.ensure();
  // This check comes before the first write. If the topic `registry` is not compacted, the log's ID in it would expire.
  refuseFatalDrift(await topics.drift());

  const all = Object.keys(config.topics.topics).map(named);
  const eventTopics = all.filter((name) => ![TABLE_REGISTRY, TABLE_SALTS].map(named).includes(name));
  const queryLink = links.query;
  await awaitLeaders(queryLink, all, config.topics, topicPrefix, partitionsOf(found));
  const rawTopicId = () =>
    readTopicId(queryLink, named(TOPIC_RAW)).catch((error: unknown) => {
      throw eventLogUnavailable(`cannot read the ID of ${named(TOPIC_RAW)}`, error);
    });
  const identity = await withRegistry(openTable, async (registry) =>
    claimIdentity(registry, found, await rawTopicId()),
  );
  const { logId, partitionCount } = identity;
  const drift = await topics.drift(partitionCount);
  refuseFatalDrift(drift);
  if (drift.length > 0) {
    logger.warn({ drift: drift.map(toText) }, 'topic settings differ from infra/kafka/topics.json');
  }
  const partitions = partitionsOf(partitionCount);
  const raw = watchForReplacement(named(TOPIC_RAW), identity.rawTopicId, logger);
  const refuseReplacedTopic = async (): Promise<void> => {
    raw.compare(await rawTopicId());
    const problem = raw.problem();
    if (problem !== undefined) throw new DependencyError('event_log_damaged', problem);
  };
  await refuseReplacedTopic();

  async function append(topic: string, records: readonly AppendRecord[]): Promise<readonly AppendOutcome[]> {
    const places = new Map<number, number[]>();
    records.forEach((record, index) => {
      const partition = record.partition ?? partitionOf(record.key ?? '', partitionCount);
      const indexes = places.get(partition);
      if (indexes === undefined) places.set(partition, [index]);
      else indexes.push(index);
    });
    const outcomes = new Array<AppendOutcome>(records.length);
    const appender = topic === TOPIC_ENRICHED || topic === TOPIC_REPLAYED ? background : interactive;
    await Promise.all(
      [...places].map(async ([partition, indexes]) => {
        const run = indexes.map((index) => toKafkaRecord(records[index]!));
        const send = () => appender.append(named(topic), partition, run);
        const result = await (topic === TOPIC_RAW ? raw.append(partition, run.length, send) : send());
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
      const heartbeatLink = link(HEARTBEAT_TIMEOUTS, [topic]);
      const fetchLink = link(PATIENT, [topic]);
      return subscribe(
        { groupLink, heartbeatLink, fetchLink, topic, groupId: groupId(options.group, topic), logger },
        options,
      );
    },
    positions: (topic, group, asked = partitions, atLeast = 0) =>
      readPositions(queryLink, named(topic), groupId(group, named(topic)), asked, atLeast).catch((error: unknown) => {
        throw eventLogUnavailable(`cannot read the positions of ${topic}`, error);
      }),
    async offsetsAtTime(topic, timeMs) {
      try {
        // Reads the ends first. Otherwise a record appended between the two reads could be below the returned end, and the caller would miss it.
        const edges = await readEdges(queryLink, named(topic), partitions);
        const found = await readOffsetsAtTime(queryLink, named(topic), partitions, timeMs);
        return partitions.map((partition) => found.get(partition) ?? edges.get(partition)!.end);
      } catch (error) {
        throw eventLogUnavailable(`cannot find offsets by time in ${topic}`, error);
      }
    },
    read: (topic, partition, from, bytesMax) =>
      readRecords(links.background, named(topic), partition, from, bytesMax).catch((error: unknown) => {
        throw eventLogUnavailable(`cannot read ${topic}/${partition}`, error);
      }),
    removeBefore: (topic, offsets) =>
      removeRecordsBefore(queryLink, named(topic), offsets).catch((error: unknown) => {
        throw eventLogUnavailable(`cannot remove records of ${topic}`, error);
      }),
    openTable,
    async ping() {
      const problem = raw.problem();
      if (problem !== undefined) throw new DependencyError('event_log_unavailable', problem);
      await ping(queryLink, eventTopics);
    },
    async drift() {
      const drifted = await topics.drift(partitionCount);
      await refuseReplacedTopic();
      return drifted;
    },
    refuseReplacedTopic,
    async close() {
      await Promise.all([interactive, background].map((appender) => appender.drain()));
      await Promise.all(Object.values(links).map((one: KafkaLink) => one.close()));
    },
  };
}

/** Deadline of appends that an HTTP client waits for: the gateway must be able to answer 503 within 2 s. */
export const APPEND_DEADLINE_MS = 1700;
const REPLICATION_TIMEOUT_MS = 1000;
/**
 * Limits of appends for which no HTTP client waits. The deadline is long: if an append were abandoned while a busy broker still works on it, the
 * caller would repeat the append and add to the load.
 */
const BACKGROUND = { deadlineMs: 8000, replicationTimeoutMs: 4500 };

function interactiveLimits({ appendDeadlineMs = APPEND_DEADLINE_MS }: KafkaEventLogConfig) {
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

/** Adds the topic to the group name, so that a group of Weir can consume two topics. In Kafka, these are two groups. */
const groupId = (group: string, topic: string) => `${group}.${topic}`;

function toKafkaRecord({ value, headers }: AppendRecord) {
  return {
    key: null,
    value: Buffer.from(value.buffer, value.byteOffset, value.byteLength),
    headers: { ...headers },
  };
}

const partitionsOf = (count: number) => Array.from({ length: count }, (_, partition) => partition);

async function withRegistry<T>(
  openTable: (name: string) => Promise<KafkaTable>,
  work: (registry: KafkaTable) => Promise<T>,
): Promise<T> {
  const registry = await openTable(TABLE_REGISTRY);
  return work(registry).finally(() => registry.close());
}

async function claimIdentity(registry: KafkaTable, found: number, topicId: string | undefined) {
  return {
    logId: await claimLogId(registry, randomUUID),
    partitionCount: await claimPartitionCount(registry, found, randomUUID),
    rawTopicId: topicId === undefined ? undefined : await claimRawTopicId(registry, topicId, randomUUID),
  };
}

function refuseFatalDrift(found: readonly TopicDrift[]): void {
  if (found.some(({ fatal }) => fatal)) throw new DependencyError('event_log_damaged', found.map(toText).join('; '));
}

const toText = ({ topic, setting, wanted, found }: TopicDrift) => `${topic}: ${setting} is ${found}, not ${wanted}`;

async function readPositions(
  link: KafkaLink,
  topic: string,
  group: string,
  partitions: readonly number[],
  atLeast: number,
): Promise<readonly PartitionPosition[]> {
  const edges = await readAllEdges(link, topic, partitions, atLeast);
  const find = (cluster: Cluster) => coordinatorPlace(cluster, group);
  const committed = await withRetry(link, 10, find, async (coordinator) => {
    const { responses } = await coordinator.offsetFetch({
      groupId: group,
      topics: [{ topic, partitions: partitions.map((partition) => ({ partition, offset: '0' })) }],
    });
    return new Map(responses.flatMap((one) => one.partitions.map(toCommit)));
  });
  return partitions.map((partition) => {
    const commit = committed.get(partition);
    return { partition, ...edges.get(partition)!, committed: commit?.offset, metadata: commit?.metadata };
  });
}

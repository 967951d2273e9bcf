import { setTimeout as pause } from 'node:timers/promises';
import { DependencyError } from '@weir/domain/errors';
import type { PartitionMetadata } from 'kafkajs';
import { brokerErrorType, eventLogUnavailable } from './kafka-errors.ts';
import type { KafkaLink } from './kafka-link.ts';
import { ConfigResourceTypes, findController } from './kafkajs-private.ts';

/** Kafka's default for `max.message.bytes`. */
const MESSAGE_BYTES_MAX = 1_048_588;

/** The content of infra/kafka/topics.json. */
export interface TopicsSpec {
  readonly replicationFactor: number;
  readonly minInsyncReplicas: number;
  readonly topics: Readonly<Record<string, TopicSpec>>;
}

export interface TopicSpec {
  /** `log`: the number of partitions of the log, which is fixed when the log is created. */
  readonly partitions: 'log' | number;
  readonly retention?: string;
  readonly config: Readonly<Record<string, string>>;
}

/** Returns a function that returns `max.message.bytes` of a topic. The function expects the topic's name with the prefix. */
export function messageBytesMaxOf({ topics }: TopicsSpec, topicPrefix: string): (topic: string) => number {
  return (topic) => Number(topics[topic.slice(topicPrefix.length)]?.config['max.message.bytes'] ?? MESSAGE_BYTES_MAX);
}

export interface TopicsOptions {
  readonly spec: TopicsSpec;
  readonly topicPrefix: string;
  /** Opens connections for topics that may not exist. Each call of a `KafkaTopics` method opens its own connections and closes them at its end. */
  readonly openLink: (topics: readonly string[]) => KafkaLink;
  /** The number of partitions of a new log. */
  readonly partitions: number;
  readonly retentionMs: Readonly<Record<string, number>>;
}

/** A topic setting that differs from topics.json. `fatal` is true if the difference breaks exactly-once. */
export interface TopicDrift {
  readonly topic: string;
  readonly setting: string;
  readonly wanted: string;
  readonly found: string;
  readonly fatal: boolean;
}

/** A difference in one of these settings breaks exactly-once. The other settings affect only durability margins or cost. */
const FATAL = new Set([
  'partitions',
  'cleanup.policy',
  'message.timestamp.type',
  'max.message.bytes',
  'unclean.leader.election.enable',
]);

const MIN_INSYNC = 'min.insync.replicas';

export interface KafkaTopics {
  /** Resolves with the topics that do not exist, without the prefix. Rejects with `event_log_unavailable`. */
  missing(): Promise<ReadonlySet<string>>;
  /** Creates missing topics. Resolves with the log's number of partitions. Rejects with `event_log_unavailable`. */
  ensure(): Promise<number>;
  /**
   * Resolves with the differences between the topics and topics.json. `partitionCount` is the number of partitions with which the log was created,
   * if it is known. Rejects with `event_log_unavailable`, or with `event_log_damaged` if a topic is missing.
   */
  drift(partitionCount?: number): Promise<readonly TopicDrift[]>;
}

/** After `createTopics`: the number of metadata requests until the brokers report the new topics, and the pause between two requests. */
const CREATED_ATTEMPTS = 100;
const CREATED_PAUSE_MS = 100;

export function createKafkaTopics(options: TopicsOptions): KafkaTopics {
  const { spec, topicPrefix } = options;
  const names = Object.keys(spec.topics).map((name) => topicPrefix + name);

  async function withLink<T>(work: (link: KafkaLink) => Promise<T>): Promise<T> {
    const link = options.openLink(names);
    try {
      return await work(link);
    } catch (error) {
      throw eventLogUnavailable('cannot read or create the topics', error);
    } finally {
      await link.close();
    }
  }

  /** The partitions of the topics that exist. */
  function readPartitions(link: KafkaLink): Promise<Partitions> {
    return link.run(async (cluster) => {
      await cluster.refreshMetadata();
      const found = names.map((name) => [name, cluster.findTopicPartitionMetadata(name)] as const);
      return new Map(found.filter(([, partitions]) => partitions.length > 0));
    });
  }

  function logPartitions(found: Partitions): number {
    for (const [name, { partitions }] of Object.entries(spec.topics)) {
      const count = found.get(topicPrefix + name)?.length;
      if (partitions === 'log' && count !== undefined) return count;
    }
    return options.partitions;
  }

  async function missing(): Promise<ReadonlySet<string>> {
    const there = await withLink(readPartitions);
    return new Set(Object.keys(spec.topics).filter((name) => !there.has(topicPrefix + name)));
  }

  async function ensure(): Promise<number> {
    return withLink(async (link) => {
      const there = await readPartitions(link);
      const missing = Object.entries(spec.topics).filter(([name]) => !there.has(topicPrefix + name));
      const log = logPartitions(there);
      if (missing.length === 0) return log;
      try {
        await link.run(async (cluster) => {
          // If the cluster has fewer brokers than the replication factor, the topics get fewer replicas. `drift` reports this.
          const replicas = Math.min(spec.replicationFactor, cluster.getNodeIds().length);
          const created = missing.map(([name, topic]) => ({
            topic: topicPrefix + name,
            numPartitions: topic.partitions === 'log' ? log : topic.partitions,
            replicationFactor: replicas,
            configEntries: Object.entries(wantedConfig(topic, replicas)).map(([key, value]) => ({ name: key, value })),
          }));
          await (await findController(cluster)).createTopics({ topics: created });
        });
      } catch (error) {
        // Another process may have created the topics at the same time. `untilCreated` checks the result.
        const refusal = errorsOf(error).find((one) => brokerErrorType(one) !== 'TOPIC_ALREADY_EXISTS');
        if (refusal !== undefined) throw refusal;
      }
      return logPartitions(await untilCreated(link));
    });
  }

  async function untilCreated(link: KafkaLink): Promise<Partitions> {
    for (let left = CREATED_ATTEMPTS; left > 0; left--) {
      const found = await readPartitions(link);
      const led = names.filter((name) => found.get(name)?.every(({ leader }) => leader >= 0));
      if (led.length === names.length) return found;
      await pause(CREATED_PAUSE_MS);
    }
    throw new DependencyError(
      'event_log_unavailable',
      'the topics were created, but the brokers do not report them, or they have no leaders',
    );
  }

  function wantedConfig(topic: TopicSpec, replicas: number): Record<string, string> {
    const retention = topic.retention === undefined ? undefined : options.retentionMs[topic.retention];
    return {
      ...topic.config,
      [MIN_INSYNC]: String(Math.min(spec.minInsyncReplicas, replicas)),
      ...(retention === undefined ? {} : { 'retention.ms': String(retention), 'retention.bytes': '-1' }),
    };
  }

  async function drift(partitionCount?: number): Promise<readonly TopicDrift[]> {
    return withLink(async (link) => {
      const partitions = await readPartitions(link);
      const absent = names.filter((name) => !partitions.has(name));
      if (absent.length > 0) {
        const message = `topics are missing: ${absent.join(', ')}. What to do: docs/operations.md, "A topic was deleted"`;
        throw new DependencyError('event_log_damaged', message);
      }
      const { resources } = await link.run(async (cluster) =>
        (await findController(cluster)).describeConfigs({
          resources: names.map((name) => ({ type: ConfigResourceTypes.TOPIC, name })),
        }),
      );
      const found: TopicDrift[] = [];
      for (const [short, topic] of Object.entries(spec.topics)) {
        const name = topicPrefix + short;
        const actual = new Map(
          resources
            .find(({ resourceName }) => resourceName === name)
            ?.configEntries.map((entry) => [entry.configName, entry.configValue]),
        );
        const compare = (setting: string, wanted: string, is: string) => {
          if (wanted !== is) found.push({ topic: name, setting, wanted, found: is, fatal: FATAL.has(setting) });
        };
        const own = partitions.get(name) ?? [];
        const wanted = topic.partitions === 'log' ? partitionCount : topic.partitions;
        if (wanted !== undefined) compare('partitions', String(wanted), String(own.length));
        const leaderless = own.filter(({ leader }) => leader < 0).map(({ partitionId }) => partitionId);
        compare('partitions without a leader', 'none', leaderless.join(' ') || 'none');
        const replicas = Math.min(...own.map((partition) => partition.replicas.length));
        if (replicas < spec.replicationFactor) compare('replicas', String(spec.replicationFactor), String(replicas));
        for (const [setting, wanted] of Object.entries(wantedConfig(topic, spec.replicationFactor))) {
          const is = actual.get(setting) ?? '';
          // A higher value is safer. It is not reported, unless it stops the appends when one replica fails.
          if (setting === MIN_INSYNC && Number(is) > Number(wanted) && Number(is) < replicas) continue;
          compare(setting, wanted, is);
        }
      }
      return found;
    });
  }

  return { missing, ensure, drift };
}

type Partitions = ReadonlyMap<string, readonly PartitionMetadata[]>;

function errorsOf(error: unknown): readonly unknown[] {
  return (error as { readonly errors?: readonly unknown[] }).errors ?? [error];
}

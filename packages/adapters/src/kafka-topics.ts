import { setTimeout as pause } from 'node:timers/promises';
import { DependencyError } from '@weir/domain/errors';
import kafkajs, { type Broker, type DescribeConfigResponse, type PartitionMetadata } from 'kafkajs';
import { brokerErrorType, eventLogUnavailable } from './kafka-errors.ts';
import type { KafkaLink } from './kafka-link.ts';

/** infra/kafka/topics.json. */
export interface TopicsSpec {
  readonly replicationFactor: number;
  readonly minInsyncReplicas: number;
  readonly topics: Readonly<Record<string, TopicSpec>>;
}

export interface TopicSpec {
  /** `log`: as many as the log has, fixed when it is made. */
  readonly partitions: 'log' | number;
  readonly retention?: string;
  readonly config: Readonly<Record<string, string>>;
}

export interface TopicsOptions {
  readonly spec: TopicsSpec;
  readonly topicPrefix: string;
  /** To topics that may not be there; opened for each look, and closed after it. */
  readonly openLink: (topics: readonly string[]) => KafkaLink;
  /** Partitions of a log that is made now. */
  readonly partitions: number;
  readonly retentionMs: Readonly<Record<string, number>>;
}

/** A setting of a topic that is not what topics.json says. `fatal`: exactly-once does not hold with it. */
export interface TopicDrift {
  readonly topic: string;
  readonly setting: string;
  readonly wanted: string;
  readonly found: string;
  readonly fatal: boolean;
}

/** Without these a promise breaks; the others only make it weaker or dearer. */
const FATAL = new Set([
  'partitions',
  'cleanup.policy',
  'message.timestamp.type',
  'max.message.bytes',
  'unclean.leader.election.enable',
]);

export interface KafkaTopics {
  /** Makes what is missing. Rejects with `event_log_unavailable`. Resolves with the log's number of partitions. */
  ensure(): Promise<number>;
  /**
   * What differs now from topics.json, and from the number of partitions that the log was made with, where that is known. Rejects
   * with `event_log_unavailable`.
   */
  drift(partitionCount?: number): Promise<readonly TopicDrift[]>;
}

/** What kafkajs's broker can do beyond its published type. */
interface AdminBroker extends Broker {
  createTopics(request: { readonly topics: readonly object[] }): Promise<unknown>;
  describeConfigs(request: { readonly resources: readonly object[] }): Promise<DescribeConfigResponse>;
}

/** Of new topics, until the brokers have heard of them: attempts of 100 ms. */
const MADE_ATTEMPTS = 100;
const MADE_PAUSE_MS = 100;

/** kafkajs's own admin asks for all topics of the cluster, and fails where one of them, whoever's, has a partition without a leader. */
export function createKafkaTopics(options: TopicsOptions): KafkaTopics {
  const { spec, topicPrefix } = options;
  const names = Object.keys(spec.topics).map((name) => topicPrefix + name);

  async function withLink<T>(work: (link: KafkaLink) => Promise<T>): Promise<T> {
    const link = options.openLink(names);
    try {
      return await work(link);
    } catch (error) {
      throw eventLogUnavailable('Kafka topics', error);
    } finally {
      await link.close();
    }
  }

  /** Of the topics that are there. */
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

  async function ensure(): Promise<number> {
    return withLink(async (link) => {
      const there = await readPartitions(link);
      const missing = Object.entries(spec.topics).filter(([name]) => !there.has(topicPrefix + name));
      const log = logPartitions(there);
      if (missing.length === 0) return log;
      try {
        await link.run(async (cluster) => {
          // A cluster of fewer brokers than asked for gets what it can hold; `drift` then says so.
          const replicas = Math.min(spec.replicationFactor, cluster.getNodeIds().length);
          const made = missing.map(([name, topic]) => ({
            topic: topicPrefix + name,
            numPartitions: topic.partitions === 'log' ? log : topic.partitions,
            replicationFactor: replicas,
            configEntries: Object.entries(wantedConfig(topic, replicas)).map(([key, value]) => ({ name: key, value })),
          }));
          await ((await cluster.findControllerBroker()) as AdminBroker).createTopics({ topics: made });
        });
      } catch (error) {
        // Another process made them at the same moment: what is there is checked next.
        const refusal = errorsOf(error).find((one) => brokerErrorType(one) !== 'TOPIC_ALREADY_EXISTS');
        if (refusal !== undefined) throw refusal;
      }
      return logPartitions(await untilMade(link));
    });
  }

  async function untilMade(link: KafkaLink): Promise<Partitions> {
    for (let left = MADE_ATTEMPTS; left > 0; left--) {
      const found = await readPartitions(link);
      const led = names.filter((name) => found.get(name)?.every(({ leader }) => leader >= 0));
      if (led.length === names.length) return found;
      await pause(MADE_PAUSE_MS);
    }
    throw new DependencyError('event_log_unavailable', 'the topics that were made are not there, or have no leaders');
  }

  function wantedConfig(topic: TopicSpec, replicas: number): Record<string, string> {
    const retention = topic.retention === undefined ? undefined : options.retentionMs[topic.retention];
    return {
      ...topic.config,
      'min.insync.replicas': String(Math.min(spec.minInsyncReplicas, replicas)),
      ...(retention === undefined ? {} : { 'retention.ms': String(retention), 'retention.bytes': '-1' }),
    };
  }

  async function drift(partitionCount?: number): Promise<readonly TopicDrift[]> {
    return withLink(async (link) => {
      const partitions = await readPartitions(link);
      const absent = names.filter((name) => !partitions.has(name));
      if (absent.length > 0) throw new DependencyError('event_log_damaged', `no topic ${absent.join(', ')}`);
      const { resources } = await link.run(async (cluster) =>
        ((await cluster.findControllerBroker()) as AdminBroker).describeConfigs({
          resources: names.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name })),
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
        for (const [setting, wanted] of Object.entries(wantedConfig(topic, spec.replicationFactor))) {
          compare(setting, wanted, actual.get(setting) ?? '');
        }
      }
      return found;
    });
  }

  return { ensure, drift };
}

type Partitions = ReadonlyMap<string, readonly PartitionMetadata[]>;

function errorsOf(error: unknown): readonly unknown[] {
  return (error as { readonly errors?: readonly unknown[] }).errors ?? [error];
}

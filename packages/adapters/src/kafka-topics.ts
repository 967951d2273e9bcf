import { DependencyError } from '@weir/domain/errors';
import kafkajs, { type Admin, type Kafka } from 'kafkajs';
import { brokerErrorType, eventLogUnavailable } from './kafka-errors.ts';

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
  readonly connect: (admin: Admin) => Promise<void>;
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
  /** What differs now from topics.json. Rejects with `event_log_unavailable`. */
  drift(): Promise<readonly TopicDrift[]>;
}

export function createKafkaTopics(kafka: Kafka, options: TopicsOptions): KafkaTopics {
  const { spec, topicPrefix } = options;
  const names = Object.keys(spec.topics).map((name) => topicPrefix + name);

  async function withAdmin<T>(work: (admin: Admin) => Promise<T>): Promise<T> {
    const admin = kafka.admin();
    try {
      await options.connect(admin);
      return await work(admin);
    } catch (error) {
      throw eventLogUnavailable('Kafka topics', error);
    } finally {
      await admin.disconnect();
    }
  }

  async function partitionCounts(admin: Admin): Promise<ReadonlyMap<string, number>> {
    const there = new Set(await admin.listTopics());
    const { topics } = await admin.fetchTopicMetadata({ topics: names.filter((name) => there.has(name)) });
    return new Map(
      topics.filter(({ name }) => names.includes(name)).map(({ name, partitions }) => [name, partitions.length]),
    );
  }

  function logPartitions(counts: ReadonlyMap<string, number>): number {
    for (const [name, { partitions }] of Object.entries(spec.topics)) {
      const count = counts.get(topicPrefix + name);
      if (partitions === 'log' && count !== undefined) return count;
    }
    return options.partitions;
  }

  async function ensure(): Promise<number> {
    return withAdmin(async (admin) => {
      const counts = await partitionCounts(admin);
      const missing = Object.entries(spec.topics).filter(([name]) => !counts.has(topicPrefix + name));
      const log = logPartitions(counts);
      if (missing.length === 0) return log;
      // A cluster of fewer brokers than asked for gets what it can hold; `drift` then says so.
      const replicas = Math.min(spec.replicationFactor, (await admin.describeCluster()).brokers.length);
      const made = missing.map(([name, topic]) => ({
        topic: topicPrefix + name,
        numPartitions: topic.partitions === 'log' ? log : topic.partitions,
        replicationFactor: replicas,
        configEntries: Object.entries(wantedConfig(topic, replicas)).map(([key, value]) => ({ name: key, value })),
      }));
      try {
        await admin.createTopics({ topics: made, waitForLeaders: true });
      } catch (error) {
        // Another process made them at the same moment, or their leaders are still being chosen: what is there is checked next.
        if (!isRace(error)) throw error;
      }
      return logPartitions(await partitionCounts(admin));
    });
  }

  function wantedConfig(topic: TopicSpec, replicas: number): Record<string, string> {
    const retention = topic.retention === undefined ? undefined : options.retentionMs[topic.retention];
    return {
      ...topic.config,
      'min.insync.replicas': String(Math.min(spec.minInsyncReplicas, replicas)),
      ...(retention === undefined ? {} : { 'retention.ms': String(retention), 'retention.bytes': '-1' }),
    };
  }

  async function drift(): Promise<readonly TopicDrift[]> {
    return withAdmin(async (admin) => {
      const counts = await partitionCounts(admin);
      const absent = names.filter((name) => !counts.has(name));
      if (absent.length > 0) throw new DependencyError('event_log_damaged', `no topic ${absent.join(', ')}`);
      const { resources } = await admin.describeConfigs({
        includeSynonyms: false,
        resources: names.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name })),
      });
      const log = logPartitions(counts);
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
        compare('partitions', String(topic.partitions === 'log' ? log : topic.partitions), String(counts.get(name)));
        for (const [setting, wanted] of Object.entries(wantedConfig(topic, spec.replicationFactor))) {
          compare(setting, wanted, actual.get(setting) ?? '');
        }
      }
      return found;
    });
  }

  return { ensure, drift };
}

function isRace(error: unknown): boolean {
  const errors = (error as { errors?: readonly unknown[] }).errors ?? [error];
  return errors.every((one) =>
    ['TOPIC_ALREADY_EXISTS', 'LEADER_NOT_AVAILABLE', 'UNKNOWN_TOPIC_OR_PARTITION'].includes(brokerErrorType(one) ?? ''),
  );
}

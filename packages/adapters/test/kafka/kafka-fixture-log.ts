import { createLogger } from '@weir/runtime/logger';
import topicsJson from '../../../../infra/kafka/topics.json' with { type: 'json' };
import { type KafkaEventLog, type KafkaEventLogConfig, openKafkaEventLog } from '../../src/kafka/kafka-event-log.ts';
import type { TopicSpec } from '../../src/kafka/kafka-topics.ts';

/**
 * Opens a log with `count` additional topics, `topic.0`, `topic.1` and so on, and up to eight additional tables, `table.0` and so on. Each topic has
 * three partitions. The deadline of appends is long, because the machine may be busy.
 */
export function openKafkaFixtureLog(
  brokers: string,
  topicPrefix: string,
  count = 40,
  more: Partial<KafkaEventLogConfig> = {},
): Promise<KafkaEventLog> {
  const topics: Record<string, TopicSpec> = { ...(topicsJson.topics as Record<string, TopicSpec>) };
  for (let i = 0; i < count; i++) {
    topics[`topic.${i}`] = topicsJson.topics['events.raw'] as TopicSpec;
    if (i < 8) topics[`table.${i}`] = topicsJson.topics.registry as TopicSpec;
  }
  return openKafkaEventLog({
    brokers: brokers.split(','),
    clientId: 'weir-test',
    topics: { ...topicsJson, topics },
    partitions: 3,
    rawRetentionMs: 72 * 3_600_000,
    enrichedRetentionMs: 30 * 24 * 3_600_000,
    topicPrefix,
    appendDeadlineMs: 20_000,
    logger: createLogger('silent'),
    ...more,
  });
}

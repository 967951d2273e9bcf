import type { KafkaEventLog } from '@weir/adapters/kafka/kafka-event-log';
import type { TopicsSpec } from '@weir/adapters/kafka/kafka-topics';
import type { RedisStateStore } from '@weir/adapters/redis/redis-state-store';
import { utcDay } from '@weir/domain/people/cookieless';
import type { RateLimiter } from '@weir/ports/rate-limiter';
import type { Registry } from '@weir/ports/registry';
import type { Config } from '@weir/runtime/config/config';
import type { Logger } from '@weir/runtime/logger';
import { createRateLimiterMetric, type Metrics } from '@weir/runtime/prometheus-metrics';
import topics from '../../../../infra/kafka/topics.json' with { type: 'json' };
import type { Stack } from '../stack.ts';
import { waitForDependency } from '../startup/wait-for-dependency.ts';
import { openRegistryOf } from './open-registry.ts';

type KafkaSettings = NonNullable<Config['engines']['kafka']>;
type RedisSettings = NonNullable<Config['engines']['redis']>;

export interface OpenServicesDeps {
  readonly config: Config;
  readonly logger: Logger;
  readonly clock: () => number;
  /** Everything that is opened is registered here, so that it is closed later. */
  readonly stack: Stack;
  /** When it aborts, waiting for an engine ends. */
  readonly stop: AbortSignal;
}

export interface OpenKafkaDeps extends OpenServicesDeps {
  /** Called once if Kafka is unavailable, for example to start a server that answers 503. Its result is closed when the log is open. */
  readonly whileWaiting: () => Promise<{ close(): Promise<unknown> }>;
}

/** Opens the event log on Kafka and its registry. Waits while Kafka is unavailable. */
export async function openKafka(
  kafka: KafkaSettings,
  deps: OpenKafkaDeps,
): Promise<{ readonly eventLog: KafkaEventLog; readonly registry: Registry }> {
  const { config, logger, clock, stack, stop, whileWaiting } = deps;
  const open = async () => {
    const eventLog = await openKafkaLog(config, logger, kafka);
    try {
      return { eventLog, registry: await openRegistryOf(eventLog, { clock, logger }) };
    } catch (error) {
      await eventLog.close();
      throw error;
    }
  };
  const unavailableCode = 'event_log_unavailable';
  const opened = await waitForDependency(open, { engine: 'Kafka', unavailableCode, whileWaiting, logger, stop });
  stack.add(opened.eventLog);
  stack.add(opened.registry);
  return opened;
}

async function openKafkaLog(config: Config, logger: Logger, kafka: KafkaSettings): Promise<KafkaEventLog> {
  const { partitions, rawRetentionMs, enrichedRetentionMs } = config;
  // The client libraries are loaded only when they are used, so that a start with embedded engines is faster.
  const { openKafkaEventLog } = await import('@weir/adapters/kafka/kafka-event-log');
  return openKafkaEventLog({
    brokers: kafka.brokers,
    clientId: 'weir',
    ...(kafka.tls === undefined ? {} : { tls: kafka.tls.ca === undefined ? true : { ca: kafka.tls.ca } }),
    ...(kafka.sasl === undefined ? {} : { sasl: kafka.sasl }),
    topics: topics as TopicsSpec,
    topicPrefix: kafka.topicPrefix,
    compression: kafka.compression,
    partitions,
    rawRetentionMs,
    enrichedRetentionMs,
    logger,
  });
}

export async function openRedisState(
  redis: RedisSettings,
  { config, clock, logger, stack }: Pick<OpenServicesDeps, 'config' | 'clock' | 'logger' | 'stack'>,
  options: { readonly keyPrefix?: string } = {},
): Promise<RedisStateStore> {
  const { openRedisStateStore } = await import('@weir/adapters/redis/redis-state-store');
  // The enricher can lag by at most the retention of the raw topic: later, Kafka deletes the records.
  const processingLagMaxMs = config.rawRetentionMs;
  return stack.add(
    await openRedisStateStore({ ...connectionOf(redis), ...options, clock, logger, processingLagMaxMs }),
  );
}

export interface OpenLimiterDeps extends OpenServicesDeps {
  readonly metrics: Metrics;
}

export async function openRedisLimiter(
  redis: RedisSettings,
  { clock, logger, metrics, stack }: OpenLimiterDeps,
  registry: Registry,
): Promise<RateLimiter> {
  const { openRedisRateLimiter } = await import('@weir/adapters/redis/redis-rate-limiter');
  const salt = () => registry.existingSalt(utcDay(clock()));
  const onFailure = createRateLimiterMetric(metrics);
  return stack.add(openRedisRateLimiter({ ...connectionOf(redis), clock, logger, salt, onFailure }));
}

function connectionOf({ url, tls, sentinel }: RedisSettings) {
  return tls?.ca === undefined ? { url, sentinel } : { url, sentinel, tls: { ca: tls.ca } };
}

import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { KafkaEventLog } from '@weir/adapters/kafka-event-log';
import type { TopicsSpec } from '@weir/adapters/kafka-topics';
import { openLmdbEventLog } from '@weir/adapters/lmdb-event-log';
import { openLmdbStateStore } from '@weir/adapters/lmdb-state-store';
import { openLogRegistry } from '@weir/adapters/log-registry';
import { createMemoryRateLimiter } from '@weir/adapters/memory-rate-limiter';
import { TOPIC_RAW } from '@weir/domain/topics';
import type { EventLog } from '@weir/ports/event-log';
import type { RateLimiter } from '@weir/ports/rate-limiter';
import type { Registry } from '@weir/ports/registry';
import type { StateStore } from '@weir/ports/state-store';
import type { Config } from '@weir/runtime/config';
import type { Logger } from '@weir/runtime/logger';
import topics from '../../../infra/kafka/topics.json' with { type: 'json' };
import { answerMeanwhile } from './answer-meanwhile.ts';
import type { GuardRail } from './guard-rails.ts';
import type { Stack } from './stack.ts';
import { untilThere } from './until-there.ts';

const HOUR_MS = 3_600_000;
const SALT_BYTES = 32;
const IDEMPOTENCY_WINDOW_HOURS = 24;

/** The engines behind the ports. This file alone knows which engine stands behind which port. */
export interface Ports {
  readonly eventLog: EventLog;
  readonly stateStore: StateStore;
  readonly registry: Registry;
  readonly rateLimiter: RateLimiter;
  /** What of the engines' own settings must be looked at again and again. */
  readonly guardRails: readonly GuardRail[];
}

export interface OpenPortsDeps {
  readonly config: Config;
  readonly logger: Logger;
  readonly clock: () => number;
  /** Closes what was opened. */
  readonly stack: Stack;
  /** Ends the waiting for an engine. */
  readonly stop: AbortSignal;
}

/** "Give a URL, get the engine": a configured service, else the embedded engine under the data folder. */
export async function openPorts(deps: OpenPortsDeps): Promise<Ports> {
  const guardRails: GuardRail[] = [];
  const { eventLog, registry } = await openLogAndRegistry(deps, guardRails);
  const stateStore = await openStateStore(deps, guardRails);
  return { eventLog, stateStore, registry, rateLimiter: await openRateLimiter(deps), guardRails };
}

interface LogAndRegistry {
  readonly eventLog: EventLog;
  readonly registry: Registry;
}

async function openLogAndRegistry(deps: OpenPortsDeps, rails: GuardRail[]): Promise<LogAndRegistry> {
  const { config, logger, clock, stack, stop } = deps;
  const { kafka } = config.engines;
  const withRegistry = async <Log extends EventLog>(eventLog: Log) => {
    const randomSalt = () => randomBytes(SALT_BYTES).toString('hex');
    const onDamage = (error: unknown) =>
      logger.error({ err: error }, 'the registry passed over a row that can not be read');
    const onUnknown = (rows: number) =>
      logger.warn({ rows }, 'the registry has rows of kinds that a newer Weir wrote: they are left alone');
    try {
      const registry = await openLogRegistry({ eventLog, clock, randomSalt, onDamage, onUnknown });
      return { eventLog, registry };
    } catch (error) {
      await eventLog.close();
      throw error;
    }
  };
  const keep = <Opened extends LogAndRegistry>(opened: Opened): Opened => {
    stack.add(opened.eventLog, (eventLog) => eventLog.close());
    stack.add(opened.registry, (registry) => registry.close());
    return opened;
  };
  if (kafka === undefined) return keep(await withRegistry(await openOwnLog(deps)));
  const opened = keep(
    await untilThere(async () => withRegistry(await openKafkaLog(deps, kafka)), {
      engine: 'Kafka',
      away: 'event_log_unavailable',
      meanwhile: () => answerMeanwhile(config, logger),
      logger,
      stop,
    }),
  );
  rails.push({
    engine: 'kafka',
    drift: async () =>
      (await opened.eventLog.drift()).map((d) => `${d.topic}: ${d.setting} is ${d.found}, not ${d.wanted}`),
  });
  return opened;
}

function openOwnLog({ config, clock }: OpenPortsDeps): Promise<EventLog> {
  const { partitions, rawRetentionHours, enrichedRetentionDays } = config;
  const folder = join(config.dataDir, 'log');
  const retentionMs = (topic: string): number =>
    (topic === TOPIC_RAW ? rawRetentionHours : enrichedRetentionDays * 24) * HOUR_MS;
  return openLmdbEventLog({ folder, partitions, clock, retentionMs });
}

async function openKafkaLog(
  { config, logger }: OpenPortsDeps,
  kafka: NonNullable<Config['engines']['kafka']>,
): Promise<KafkaEventLog> {
  const { partitions, rawRetentionHours, enrichedRetentionDays } = config;
  // Loaded only where it is used: an embedded start has better things to do than to read two client libraries.
  const { openKafkaEventLog } = await import('@weir/adapters/kafka-event-log');
  return openKafkaEventLog({
    brokers: kafka.brokers,
    clientId: 'weir',
    ...(kafka.tls === undefined ? {} : { tls: kafka.tls.ca === undefined ? true : { ca: kafka.tls.ca } }),
    ...(kafka.sasl === undefined ? {} : { sasl: kafka.sasl }),
    topics: topics as TopicsSpec,
    topicPrefix: kafka.topicPrefix,
    compression: kafka.compression,
    partitions,
    rawRetentionHours,
    enrichedRetentionDays,
    logger,
  });
}

async function openStateStore(
  { config, logger, clock, stack }: OpenPortsDeps,
  rails: GuardRail[],
): Promise<StateStore> {
  const { redis } = config.engines;
  // A record may be read again, or for the first time, as long as the raw topic keeps it.
  const lagMaxMs = config.rawRetentionHours * HOUR_MS;
  if (redis === undefined) {
    const folder = join(config.dataDir, 'state');
    const holderKeptMs = lagMaxMs + IDEMPOTENCY_WINDOW_HOURS * HOUR_MS;
    return stack.add(await openLmdbStateStore({ folder, clock, holderKeptMs }), (opened) => opened.close());
  }
  const { openRedisStateStore } = await import('@weir/adapters/redis-state-store');
  const { url } = redis;
  const tls = redis.tls?.ca === undefined ? {} : { tls: { ca: redis.tls.ca } };
  const store = stack.add(await openRedisStateStore({ url, ...tls, clock, logger, holdLagMaxMs: lagMaxMs }), (opened) =>
    opened.close(),
  );
  rails.push({ engine: 'redis', drift: () => store.drift() });
  return store;
}

async function openRateLimiter({ config, logger, clock, stack }: OpenPortsDeps): Promise<RateLimiter> {
  const { redis } = config.engines;
  if (redis === undefined) return createMemoryRateLimiter();
  const { openRedisRateLimiter } = await import('@weir/adapters/redis-rate-limiter');
  const { url } = redis;
  const tls = redis.tls?.ca === undefined ? {} : { tls: { ca: redis.tls.ca } };
  return stack.add(openRedisRateLimiter({ url, ...tls, clock, logger }), (opened) => opened.close());
}

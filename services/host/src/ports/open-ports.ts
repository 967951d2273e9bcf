import { join } from 'node:path';
import type { KafkaEventLog } from '@weir/adapters/kafka/kafka-event-log';
import type { TopicsSpec } from '@weir/adapters/kafka/kafka-topics';
import { type LmdbEventLog, openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import { createMemoryRateLimiter } from '@weir/adapters/redis/memory-rate-limiter';
import { utcDay } from '@weir/domain/people/cookieless';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import type { DiskSpace } from '@weir/ports/disk-space';
import type { EventLog } from '@weir/ports/event-log';
import type { RateLimiter } from '@weir/ports/rate-limiter';
import type { Registry } from '@weir/ports/registry';
import type { StateStore } from '@weir/ports/state-store';
import type { Config } from '@weir/runtime/config/config';
import type { Logger } from '@weir/runtime/logger';
import topics from '../../../../infra/kafka/topics.json' with { type: 'json' };
import type { Stack } from '../stack.ts';
import { openStartupServer } from '../startup/startup-server.ts';
import { waitForDependency } from '../startup/wait-for-dependency.ts';
import type { GuardRail } from '../watch/guard-rails.ts';
import { openOwnClaims, openOwnState } from './open-own-state.ts';
import { openRegistryOf } from './open-registry.ts';
import { type PipelineState, splitStateStore } from './split-state-store.ts';

const HOUR_MS = 3_600_000;

export type EmbeddedLog = LmdbEventLog;

/** The engines behind the ports. Only the files in this folder know which engine implements which port. */
export interface Ports {
  readonly eventLog: EventLog;
  /** The event log, if it is the embedded one. */
  readonly embeddedLog: EmbeddedLog | undefined;
  readonly stateStore: StateStore;
  readonly registry: Registry;
  readonly rateLimiter: RateLimiter;
  /** Checks of the engines' own settings. The caller repeats them at intervals. */
  readonly guardRails: readonly GuardRail[];
}

export interface OpenPortsDeps {
  readonly config: Config;
  readonly logger: Logger;
  readonly clock: () => number;
  /** The disk of the data folder. Undefined if this process stores nothing there. */
  readonly disk: DiskSpace | undefined;
  /** The state of the enricher, if another thread of this process has opened it. Otherwise this function opens it. */
  readonly pipelineState: PipelineState | undefined;
  /** Everything that is opened is registered here, so that it is closed later. */
  readonly stack: Stack;
  /** When it aborts, waiting for an engine ends. */
  readonly stop: AbortSignal;
}

/** Opens each engine: the configured service, or else the embedded engine in the data folder. */
export async function openPorts(deps: OpenPortsDeps): Promise<Ports> {
  const guardRails: GuardRail[] = [];
  const { eventLog, embeddedLog, registry } = await openLogAndRegistry(deps, guardRails);
  const stateStore = await openStateStore(deps, guardRails);
  const rateLimiter = await openRateLimiter(deps, registry);
  return { eventLog, embeddedLog, stateStore, registry, rateLimiter, guardRails };
}

interface LogAndRegistry {
  readonly eventLog: EventLog;
  readonly embeddedLog?: LmdbEventLog;
  readonly registry: Registry;
}

async function openLogAndRegistry(deps: OpenPortsDeps, rails: GuardRail[]): Promise<LogAndRegistry> {
  const { config, logger, clock, stack, stop } = deps;
  const { kafka } = config.engines;
  const withRegistry = async <Log extends EventLog>(eventLog: Log) => {
    try {
      return { eventLog, registry: await openRegistryOf(eventLog, { clock, logger }) };
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
  if (kafka === undefined) {
    const opened = keep(await withRegistry(await openOwnLog(deps)));
    return { ...opened, embeddedLog: opened.eventLog };
  }
  const opened = keep(
    await waitForDependency(async () => withRegistry(await openKafkaLog(deps, kafka)), {
      engine: 'Kafka',
      unavailableCode: 'event_log_unavailable',
      whileWaiting: () => openStartupServer(config, logger),
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

function openOwnLog({ config, clock, disk }: OpenPortsDeps): Promise<LmdbEventLog> {
  const { partitions, rawRetentionHours, enrichedRetentionDays } = config;
  const folder = join(config.dataDir, 'log');
  const retentionMs = (topic: string): number =>
    (topic === TOPIC_RAW ? rawRetentionHours : enrichedRetentionDays * 24) * HOUR_MS;
  return openLmdbEventLog({ folder, partitions, clock, retentionMs, disk });
}

async function openKafkaLog(
  { config, logger }: OpenPortsDeps,
  kafka: NonNullable<Config['engines']['kafka']>,
): Promise<KafkaEventLog> {
  const { partitions, rawRetentionHours, enrichedRetentionDays } = config;
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
    rawRetentionHours,
    enrichedRetentionDays,
    logger,
  });
}

async function openStateStore(
  { config, logger, clock, disk, pipelineState, stack }: OpenPortsDeps,
  rails: GuardRail[],
): Promise<StateStore> {
  const { redis } = config.engines;
  // The enricher can lag behind by at most the time for which the raw topic keeps records.
  const lagMaxMs = config.rawRetentionHours * HOUR_MS;
  if (redis === undefined) {
    const close = (opened: StateStore) => opened.close();
    const claims = stack.add(await openOwnClaims({ config, clock, disk }), close);
    const state = pipelineState ?? stack.add(await openOwnState({ config, clock, disk }), close);
    return splitStateStore(claims, state);
  }
  const { openRedisStateStore } = await import('@weir/adapters/redis/redis-state-store');
  const { url } = redis;
  const tls = redis.tls?.ca === undefined ? {} : { tls: { ca: redis.tls.ca } };
  const store = stack.add(
    await openRedisStateStore({ url, ...tls, clock, logger, processingLagMaxMs: lagMaxMs }),
    (opened) => opened.close(),
  );
  rails.push({ engine: 'redis', drift: () => store.drift() });
  return store;
}

async function openRateLimiter(
  { config, logger, clock, stack }: OpenPortsDeps,
  registry: Registry,
): Promise<RateLimiter> {
  const { redis } = config.engines;
  if (redis === undefined) return createMemoryRateLimiter();
  const { openRedisRateLimiter } = await import('@weir/adapters/redis/redis-rate-limiter');
  const { url } = redis;
  const tls = redis.tls?.ca === undefined ? {} : { tls: { ca: redis.tls.ca } };
  const salt = () => registry.existingSalt(utcDay(clock()));
  return stack.add(openRedisRateLimiter({ url, ...tls, clock, logger, salt }), (opened) => opened.close());
}

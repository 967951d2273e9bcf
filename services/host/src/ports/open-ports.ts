import { join } from 'node:path';
import { type LmdbEventLog, openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import { createMemoryRateLimiter } from '@weir/adapters/redis/memory-rate-limiter';
import { GROUP_ENRICHER, GROUP_WRITER, TOPIC_ENRICHED, TOPIC_RAW } from '@weir/domain/records/topics';
import type { DiskSpace } from '@weir/ports/disk-space';
import type { EventLog } from '@weir/ports/event-log';
import type { RateLimiter } from '@weir/ports/rate-limiter';
import type { Registry } from '@weir/ports/registry';
import type { StateStore } from '@weir/ports/state-store';
import type { Config } from '@weir/runtime/config/config';
import type { Logger } from '@weir/runtime/logger';
import type { Metrics } from '@weir/runtime/prometheus-metrics';
import type { Stack } from '../stack.ts';
import { openStartupServer } from '../startup/startup-server.ts';
import type { GuardRail } from '../watch/guard-rails.ts';
import { openOwnClaims, openOwnState } from './open-own-state.ts';
import { openRegistryOf } from './open-registry.ts';
import { openKafka, openRedisLimiter, openRedisState } from './open-services.ts';
import { type PipelineState, splitStateStore } from './split-state-store.ts';

export type EmbeddedLog = LmdbEventLog;

/** The engines behind the ports. Of the services (except the CLI), only the files in this folder import the adapters of engines. */
export interface Ports {
  readonly eventLog: EventLog;
  /** The event log, if it is the embedded one. */
  readonly embeddedLog: EmbeddedLog | undefined;
  readonly stateStore: StateStore;
  readonly registry: Registry;
  readonly rateLimiter: RateLimiter;
  /**
   * Resolves with the time of Redis in Unix milliseconds: all hosts share this clock. `Infinity` if the state store is embedded. Rejects with
   * `state_store_unavailable`.
   */
  readonly sharedClock: () => Promise<number>;
  /** Checks of the settings of the engines. The caller repeats them at intervals. */
  readonly guardRails: readonly GuardRail[];
}

export interface OpenPortsDeps {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
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
  const { stateStore, sharedClock } = await openStateStore(deps, embeddedLog, guardRails);
  const rateLimiter = await openRateLimiter(deps, registry);
  return { eventLog, embeddedLog, stateStore, sharedClock, registry, rateLimiter, guardRails };
}

interface LogAndRegistry {
  readonly eventLog: EventLog;
  readonly embeddedLog?: LmdbEventLog;
  readonly registry: Registry;
}

async function openLogAndRegistry(deps: OpenPortsDeps, rails: GuardRail[]): Promise<LogAndRegistry> {
  const { config, logger, clock, stack } = deps;
  const { kafka } = config.engines;
  if (kafka === undefined) {
    const eventLog = stack.add(await openOwnLog(deps));
    const registry = stack.add(await openRegistryOf(eventLog, { clock, logger }));
    return { eventLog, registry, embeddedLog: eventLog };
  }
  const opened = await openKafka(kafka, { ...deps, whileWaiting: () => openStartupServer(config, logger) });
  rails.push({
    engine: 'kafka',
    drift: async () =>
      (await opened.eventLog.drift()).map((d) => `${d.topic}: ${d.setting} is ${d.found}, not ${d.wanted}`),
  });
  return opened;
}

function openOwnLog({ config, clock, disk }: OpenPortsDeps): Promise<LmdbEventLog> {
  const { partitions, rawRetentionMs, enrichedRetentionMs } = config;
  const folder = join(config.dataDir, 'log');
  const retentionMs = (topic: string): number => (topic === TOPIC_RAW ? rawRetentionMs : enrichedRetentionMs);
  const readerOf = (topic: string): string | undefined =>
    ({ [TOPIC_RAW]: GROUP_ENRICHER, [TOPIC_ENRICHED]: GROUP_WRITER })[topic];
  return openLmdbEventLog({ folder, partitions, clock, retentionMs, readerOf, disk });
}

async function openStateStore(
  deps: OpenPortsDeps,
  log: LmdbEventLog | undefined,
  rails: GuardRail[],
): Promise<Pick<Ports, 'stateStore' | 'sharedClock'>> {
  const { config, clock, disk, pipelineState, stack } = deps;
  const { redis } = config.engines;
  if (redis === undefined) {
    const claims = stack.add(await openOwnClaims({ config, clock, disk }));
    const state = pipelineState ?? stack.add(await openOwnState({ config, clock, disk }, log));
    return { stateStore: splitStateStore(claims, state), sharedClock: async () => Number.POSITIVE_INFINITY };
  }
  const store = await openRedisState(redis, deps);
  rails.push({ engine: 'redis', drift: () => store.drift() });
  return { stateStore: store, sharedClock: () => store.serverTime() };
}

async function openRateLimiter(deps: OpenPortsDeps, registry: Registry): Promise<RateLimiter> {
  const { redis } = deps.config.engines;
  return redis === undefined ? createMemoryRateLimiter() : openRedisLimiter(redis, deps, registry);
}

import { createOwnedTables, type OwnedTables, type TableOwner } from '@weir/adapters/lmdb/thread/owned-tables';
import { createCentralRateLimiter, type RateLimitTake, takeAll } from '@weir/adapters/redis/central-rate-limiter';
import type { EventLog } from '@weir/ports/event-log';
import type { RateLimit, RateLimiter } from '@weir/ports/rate-limiter';
import type { Registry } from '@weir/ports/registry';
import type { ClaimStore } from '@weir/ports/state-store';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { watchGuardRails } from '../watch/guard-rails.ts';
import { openRegistryOf } from './open-registry.ts';
import { type OpenLimiterDeps, openKafka, openRedisLimiter, openRedisState } from './open-services.ts';

export { createOwnedTables, type OwnedTables, type RateLimitTake, takeAll };

/** The engines of a gateway process. */
export interface GatewayPorts {
  readonly eventLog: Pick<EventLog, 'append'>;
  readonly registry: Registry;
  readonly stateStore: ClaimStore;
  readonly rateLimiter: RateLimiter;
}

/** The embedded engines, which belong to the main process. Each of these methods sends a call to that process. */
export interface OwnedEngines extends TableOwner, ClaimStore, Pick<EventLog, 'append'> {
  takeRateLimits(takes: readonly RateLimitTake[]): Promise<readonly RateLimit[]>;
}

export interface OpenGatewayPortsDeps extends OpenLimiterDeps {
  readonly owned: OwnedEngines;
  /** The tables of the embedded log. */
  readonly tables: OwnedTables;
}

/** Opens connections to the configured services. The embedded engines are those of the main process. */
export async function openGatewayPorts(deps: OpenGatewayPortsDeps): Promise<GatewayPorts> {
  const { config, owned } = deps;
  const { redis } = config.engines;
  const { eventLog, registry } = await openLog(deps);
  const stateStore = redis === undefined ? owned : await openRedisState(redis, deps);
  const rateLimiter =
    redis === undefined
      ? createCentralRateLimiter(owned.takeRateLimits)
      : await openRedisLimiter(redis, deps, registry);
  return { eventLog, registry, stateStore, rateLimiter };
}

async function openLog(deps: OpenGatewayPortsDeps): Promise<Pick<GatewayPorts, 'eventLog' | 'registry'>> {
  const { config, owned, tables, logger, clock, stack } = deps;
  const { kafka } = config.engines;
  if (kafka === undefined) {
    const registry = stack.add(await openRegistryOf(tables, { clock, logger }));
    return { eventLog: owned, registry };
  }
  // This process opens no server while it waits for Kafka: after a restart of this process, the other gateway processes answer requests.
  const opened = await openKafka(kafka, { ...deps, whileWaiting: async () => ({ close: async () => undefined }) });
  // If the raw topic was deleted and created again, this process must stop its appends. The main process makes the same check, but only for itself.
  const rail = { engine: 'kafka', drift: () => opened.eventLog.refuseReplacedTopic().then(() => []) };
  // These metrics are not published: /metrics adds the values of all processes, so it would count a problem more than once.
  const options = { intervalMs: config.guardIntervalMs, clock, logger, metrics: createMetrics() };
  stack.add(watchGuardRails([rail], options));
  return opened;
}

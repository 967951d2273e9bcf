import { randomBytes, randomFillSync } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLmdbEventLog } from '@weir/adapters/lmdb/lmdb-event-log';
import { openLmdbStateStore } from '@weir/adapters/lmdb/state/lmdb-state-store';
import { createMemoryRateLimiter } from '@weir/adapters/redis/memory-rate-limiter';
import { openLogRegistry } from '@weir/adapters/registry/log-registry';
import { createEventIds } from '@weir/domain/ingest/event-id';
import { utcDay } from '@weir/domain/people/cookieless';
import { decodeRawRecord, type RawRecord } from '@weir/domain/records/raw-record';
import { createOpenAddress } from '@weir/domain/records/sealed-address';
import { TOPIC_RAW } from '@weir/domain/records/topics';
import { hashApiKey, newApiKey } from '@weir/domain/registry/api-key';
import type { Scope, SiteLimits } from '@weir/domain/registry/site';
import type { EventLog } from '@weir/ports/event-log';
import type { Registry } from '@weir/ports/registry';
import { createAddressSealer } from '@weir/runtime/address-sealer';
import { type HttpLimits, type HttpServer, startHttpServer } from '@weir/runtime/http/http-server';
import { joinOpenApi } from '@weir/runtime/http/openapi';
import { createLogger } from '@weir/runtime/logger';
import { createMetrics } from '@weir/runtime/prometheus-metrics';
import { deferred } from '@weir/testkit/eventually';
import {
  createProxyMisconfigurationDetector,
  type ProxyMisconfigurationDetector,
} from '../src/admission/proxy-misconfiguration-detector.ts';
import { createGateway, type Gateway } from '../src/app.ts';
import type { GatewayDeps } from '../src/gateway-deps.ts';
import { gatewayOpenApi } from '../src/openapi/gateway-openapi.ts';

export interface RunningGateway {
  readonly url: string;
  readonly port: number;
  readonly gateway: Gateway;
  readonly server: HttpServer;
  readonly registry: Registry;
  readonly eventLog: EventLog;
  readonly proxyDetector: ProxyMisconfigurationDetector;
  makeSite(siteId: string, limits?: SiteLimits): Promise<void>;
  /** Creates an API key and returns it in plain text. */
  makeKey(siteId: string, scopes?: readonly Scope[]): Promise<string>;
  /** All records in events.raw, with their client IPs decrypted. */
  records(): Promise<readonly RawRecord[]>;
  close(): Promise<void>;
}

export interface GatewayOptions extends Partial<Pick<GatewayDeps, 'routers' | 'ready'>> {
  readonly config?: Partial<GatewayDeps['config']>;
  readonly http?: Partial<HttpLimits>;
  readonly clock?: () => number;
  /** Wraps the event log for everything that uses it, including the registry. */
  readonly wrapLog?: (log: EventLog) => EventLog;
  /** Changes the dependencies of the gateway, for example to make an engine fail. */
  readonly wrap?: (deps: GatewayDeps) => GatewayDeps;
}

/** Starts a gateway with HTTP and embedded engines in a temporary folder. */
export async function startGateway(options: GatewayOptions = {}): Promise<RunningGateway> {
  const folder = await mkdtemp(join(tmpdir(), 'weir-gateway-'));
  const clock = options.clock ?? Date.now;
  const logger = createLogger('silent');
  const ownLog = await openLmdbEventLog({
    folder: join(folder, 'log'),
    partitions: 4,
    clock,
    retentionMs: () => 86_400_000,
  });
  const eventLog = options.wrapLog?.(ownLog) ?? ownLog;
  const stateStore = await openLmdbStateStore({ folder: join(folder, 'state'), clock });
  const registry = await openLogRegistry({
    eventLog,
    clock,
    randomSalt: () => randomBytes(32).toString('hex'),
    onDamage(error) {
      throw error;
    },
  });
  const rateLimiter = createMemoryRateLimiter();
  const deps: GatewayDeps = {
    registry,
    eventLog,
    stateStore,
    rateLimiter,
    addressSealer: createAddressSealer({ registry, randomBytes }),
    config: {
      trustedProxies: [],
      clientIpHeader: undefined,
      collectPaths: [],
      rateLimits: { collect: 600, events: 1200, identify: 120 },
      batch: { appendLingerMs: 2 },
      ...options.config,
    },
    clock,
    newEventId: createEventIds(clock, randomFillSync),
    logger,
    metrics: createMetrics(),
    proxyDetector: createProxyMisconfigurationDetector(),
    ready: options.ready ?? (async () => []),
    openApiDocument: joinOpenApi([gatewayOpenApi(options.config?.collectPaths ?? [])]),
    ...(options.routers === undefined ? {} : { routers: options.routers }),
  };
  const gateway = createGateway(options.wrap?.(deps) ?? deps);
  const server = await startHttpServer({
    app: gateway.app,
    refuse: gateway.refuse,
    host: '127.0.0.1',
    port: 0,
    logger,
    ...(options.http === undefined ? {} : { limits: options.http }),
  });

  return {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port,
    gateway,
    server,
    registry,
    eventLog,
    proxyDetector: deps.proxyDetector,
    makeSite: (siteId, limits = {}) =>
      registry.putSite({ siteId, name: siteId, domain: 'example.com', timezone: 'UTC', limits, createdAt: clock() }),
    async makeKey(siteId, scopes = ['events:write', 'identify:write']) {
      const plain = newApiKey(randomBytes);
      const keyId = `key_${randomBytes(6).toString('hex')}`;
      await registry.putKey({
        keyId,
        siteId,
        name: keyId,
        hash: hashApiKey(plain),
        scopes,
        legacyIdentify: false,
        createdAt: clock(),
      });
      return plain;
    },
    records: async () => (await readAll(eventLog)).map((record) => opened(record, registry)),
    async close() {
      await server.close(30_000);
      await gateway.drain();
      await rateLimiter.close();
      await registry.close();
      await stateStore.close();
      await eventLog.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** Holds back all appends of the gateway until `release` is called. */
export function holdAppends(): { readonly wrap: (deps: GatewayDeps) => GatewayDeps; readonly release: () => void } {
  const { promise: released, resolve: release } = deferred();
  const wrap = (deps: GatewayDeps): GatewayDeps => {
    const append: EventLog['append'] = async (topic, records) => {
      await released;
      return deps.eventLog.append(topic, records);
    };
    return { ...deps, eventLog: { ...deps.eventLog, append } };
  };
  return { wrap, release };
}

let groups = 0;
const open = createOpenAddress();

function opened(record: RawRecord, registry: Registry): RawRecord {
  const { sealedIp = '', ...others } = record;
  const ip = sealedIp === '' ? '' : open(sealedIp, registry.existingSalt(utcDay(record.receivedAt)));
  return { ...others, ip };
}

async function readAll(eventLog: EventLog): Promise<readonly RawRecord[]> {
  const group = `test-${groups++}`;
  const positions = await eventLog.positions(TOPIC_RAW, group);
  const records: RawRecord[] = [];
  const wanted = positions.reduce((sum, position) => sum + position.end - position.first, 0);
  if (wanted === 0) return records;
  await new Promise<void>((resolve, reject) => {
    const subscription = eventLog.consume({
      topic: TOPIC_RAW,
      group,
      open: async () => ({
        async handle(stored) {
          for (const { value } of stored) records.push(decodeRawRecord(value));
          if (records.length >= wanted) void subscription.then((open) => open.close()).then(resolve, reject);
        },
        async close() {},
      }),
      onError: reject,
    });
    subscription.catch(reject);
  });
  return records;
}

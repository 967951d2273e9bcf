import type { DiskSpace } from '@weir/ports/disk-space';
import type { EventLog } from '@weir/ports/event-log';
import type { RateLimiter } from '@weir/ports/rate-limiter';
import type { Registry } from '@weir/ports/registry';
import type { StateStore } from '@weir/ports/state-store';
import type { AddressSealer } from '@weir/runtime/address-sealer';
import type { Config } from '@weir/runtime/config/config';
import type { Logger } from '@weir/runtime/logger';
import type { Metrics } from '@weir/runtime/prometheus-metrics';
import type { Router } from 'express';
import type { Authenticate } from './admission/authenticate.ts';
import type { ClientIpOf } from './admission/find-client-ip.ts';
import type { ProxyMisconfigurationDetector } from './admission/proxy-misconfiguration-detector.ts';
import type { AppendBatcher } from './append/append-batcher.ts';
import type { GatewayMetrics } from './gateway-metrics.ts';
import type { ReadBody } from './http/read-request-body.ts';

export interface GatewayDeps {
  readonly registry: Registry;
  readonly eventLog: EventLog;
  readonly stateStore: StateStore;
  readonly rateLimiter: RateLimiter;
  readonly addressSealer: AddressSealer;
  readonly config: GatewayConfig;
  readonly clock: () => number;
  /** UUIDv7, each greater than the one before. */
  readonly newEventId: () => string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly proxyDetector: ProxyMisconfigurationDetector;
  readonly disk?: DiskSpace | undefined;
  /** Asked after the gateway's own routes and before the 404. */
  readonly routers?: readonly Router[];
  /** Names what is not ready yet; empty: ready. */
  readonly ready: () => Promise<readonly string[]>;
  /** What /readyz reports although the process is ready: work that a role is doing. Default: nothing. */
  readonly notes?: () => readonly string[];
  /** The OpenAPI document of all services. */
  readonly openApiDocument: object;
}

/** What the routes need that every process serves. */
export type OperationsDeps = Pick<
  GatewayDeps,
  'logger' | 'metrics' | 'disk' | 'ready' | 'notes' | 'routers' | 'openApiDocument'
>;

export type GatewayConfig = Pick<Config, 'trustedProxies' | 'clientIpHeader' | 'collectPaths' | 'rateLimits'> & {
  readonly batch: Pick<Config['batch'], 'appendLingerMs'>;
};

/** What the handlers of the gateway's routes work with. */
export interface RouteDeps extends GatewayDeps {
  readonly clientIpOf: ClientIpOf;
  readonly authenticate: Authenticate;
  readonly batcher: AppendBatcher;
  readonly traitsDropped: GatewayMetrics['traitsDropped'];
  readonly readBody: ReadBody;
}

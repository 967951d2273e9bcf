import type { IncomingMessage } from 'node:http';
import type { DiskSpace } from '@weir/ports/disk-space';
import type { EventLog } from '@weir/ports/event-log';
import type { RateLimiter } from '@weir/ports/rate-limiter';
import type { Registry } from '@weir/ports/registry';
import type { ClaimStore } from '@weir/ports/state-store';
import type { AddressSealer } from '@weir/runtime/address-sealer';
import type { Config } from '@weir/runtime/config/config';
import type { Logger } from '@weir/runtime/logger';
import type { Metrics } from '@weir/runtime/prometheus-metrics';
import type { TokenUses } from '@weir/runtime/token-uses';
import type { Router } from 'express';
import type { Authenticate } from './admission/authenticate.ts';
import type { ProxyMisconfigurationDetector } from './admission/proxy-misconfiguration-detector.ts';
import type { AppendBatcher } from './append/append-batcher.ts';
import type { GatewayMetrics } from './gateway-metrics.ts';
import type { ReadBody } from './http/read-request-body.ts';

/** The dependencies of the routes that accept hits, events and identities. */
export interface IngestDeps {
  readonly registry: Registry;
  readonly eventLog: Pick<EventLog, 'append'>;
  readonly stateStore: ClaimStore;
  readonly rateLimiter: RateLimiter;
  readonly addressSealer: AddressSealer;
  readonly config: GatewayConfig;
  readonly clock: () => number;
  /** Creates a UUIDv7. Each ID is greater than the one before. */
  readonly newEventId: () => string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly proxyDetector: ProxyMisconfigurationDetector;
  readonly disk?: DiskSpace | undefined;
  /** The routers of other roles. They get the requests that no route of the gateway matches. If they do not match either, the answer is 404. */
  readonly routers?: readonly Router[];
}

/** The dependencies of the routes that every process serves. */
export interface OperationsDeps extends Pick<IngestDeps, 'logger' | 'metrics' | 'disk' | 'routers'> {
  /** The names of what is not ready yet. Empty if the process is ready. */
  readonly ready: () => Promise<readonly string[]>;
  /** Texts that /readyz shows although the process is ready, for example about a rebuild of the state. By default there are none. */
  readonly notes?: () => Promise<readonly string[]>;
  /** The text of /metrics. Default: the text of `metrics`. */
  readonly metricsText?: () => Promise<string>;
  /** The OpenAPI document of all services. */
  readonly openApiDocument: object;
}

export interface GatewayDeps extends IngestDeps, OperationsDeps {}

export type GatewayConfig = Pick<Config, 'trustedProxies' | 'clientIpHeader' | 'collectPaths' | 'rateLimits'> & {
  readonly batch: Pick<Config['batch'], 'appendLingerMs'>;
};

export interface RouteDeps extends IngestDeps {
  /** Returns the client IP in normalised form. Empty if the connection is closed. */
  readonly clientIpOf: (request: IncomingMessage) => string;
  readonly authenticate: Authenticate;
  readonly tokenUses: TokenUses;
  readonly batcher: AppendBatcher;
  readonly traitsDropped: GatewayMetrics['traitsDropped'];
  readonly readBody: ReadBody;
}

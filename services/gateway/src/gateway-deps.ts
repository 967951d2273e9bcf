import type { EventLog } from '@weir/ports/event-log';
import type { RateLimiter } from '@weir/ports/rate-limiter';
import type { Registry } from '@weir/ports/registry';
import type { StateStore } from '@weir/ports/state-store';
import type { Config } from '@weir/runtime/config';
import type { Logger } from '@weir/runtime/logger';
import type { Metrics } from '@weir/runtime/metrics';
import type { Router } from 'express';

export interface GatewayDeps {
  readonly registry: Registry;
  readonly eventLog: EventLog;
  readonly stateStore: StateStore;
  readonly rateLimiter: RateLimiter;
  readonly config: GatewayConfig;
  readonly clock: () => number;
  /** UUIDv7, rising. */
  readonly newEventId: () => string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly hitNetworks: HitNetworks;
  /** What else this process serves; asked after the gateway's own routes and before the 404. */
  readonly routers?: readonly Router[];
  /** Names what is not ready yet; empty: ready. */
  readonly ready: () => Promise<readonly string[]>;
}

export type GatewayConfig = Pick<Config, 'trustedProxies' | 'clientIpHeader' | 'collectPaths' | 'rateLimits'> & {
  readonly batch: Pick<Config['batch'], 'appendLingerMs'>;
};

/** What a route works with. */
export interface RouteDeps extends Omit<GatewayDeps, 'routers' | 'ready'> {
  readonly clientAddress: ClientAddress;
  readonly authenticate: Authenticate;
  readonly batcher: AppendBatcher;
}

import type { AppendBatcher } from './append-batcher.ts';
import type { Authenticate } from './authenticate.ts';
import type { ClientAddress } from './client-address.ts';
import type { HitNetworks } from './hit-networks.ts';

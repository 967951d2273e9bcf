import { randomBytes, randomFillSync } from 'node:crypto';
import { createControl } from '@weir/control/control';
import type { ConsumerStatus, Located } from '@weir/control/control-deps';
import { createEventIds } from '@weir/domain/event-id';
import { createGateway, type Gateway } from '@weir/gateway/app';
import { createFindClient } from '@weir/gateway/client-address';
import { createHitNetworks } from '@weir/gateway/hit-networks';
import { createOperations } from '@weir/gateway/operations';
import { createSnippetRoutes } from '@weir/gateway/snippet-routes';
import type { Analytics } from '@weir/ports/analytics';
import type { Config } from '@weir/runtime/config';
import type { Logger } from '@weir/runtime/logger';
import type { Metrics } from '@weir/runtime/metrics';
import type { Ports } from './open-ports.ts';
import type { ProjectFiles } from './project-files.ts';
import type { Readiness } from './readiness.ts';
import type { Role } from './roles.ts';
import type { SharedGeo } from './shared-geo.ts';

export interface AppDeps {
  readonly roles: readonly Role[];
  readonly config: Config;
  readonly ports: Ports;
  readonly analytics: Analytics | undefined;
  /** Undefined: this process has no control role. */
  readonly adminToken: string | undefined;
  readonly files: ProjectFiles;
  readonly pipelineStatus: () => readonly ConsumerStatus[];
  readonly logger: Logger;
  readonly clock: () => number;
  readonly metrics: Metrics;
  readonly readiness: Readiness;
  readonly geo: SharedGeo;
}

/** What this process serves over HTTP: the gateway's endpoints, and the control role's where it has that role. */
export function createApp(deps: AppDeps): Gateway {
  const { roles, config, ports, analytics, adminToken, logger, clock, metrics, readiness } = deps;
  const hitNetworks = createHitNetworks();
  const control =
    adminToken !== undefined && analytics !== undefined
      ? createControl({
          ...ports,
          analytics,
          adminToken,
          clock,
          randomBytes,
          logger,
          pipelineStatus: deps.pipelineStatus,
          findClient: createFindClient(config),
          proxies: config,
          locate: locateWith(deps.geo),
          crowdedSites: roles.includes('gateway') ? hitNetworks.crowded : undefined,
        })
      : undefined;
  const shared = {
    config,
    logger,
    metrics,
    ready: () => readiness.missing(),
  };
  const controlRouters = control === undefined ? [] : [control.router];
  if (!roles.includes('gateway')) return createOperations({ ...shared, routers: controlRouters });
  return createGateway({
    ...shared,
    ...ports,
    hitNetworks,
    routers: [createSnippetRoutes({ files: deps.files }), ...controlRouters],
    clock,
    newEventId: createEventIds(clock, (bytes) => randomFillSync(bytes)),
  });
}

/** An answer to who one is must not fail for where one is. */
function locateWith(geo: SharedGeo): (address: string) => Promise<Located> {
  return async (address) => {
    try {
      const opened = await geo();
      return { place: opened.lookup(address), data: opened.version, problem: opened.problem };
    } catch (error) {
      return { place: undefined, data: '', problem: error instanceof Error ? error.message : String(error) };
    }
  };
}

import { randomBytes, randomFillSync } from 'node:crypto';
import { createControl } from '@weir/control/control';
import type { ConsumerStatus } from '@weir/control/control-deps';
import { createEventIds } from '@weir/domain/event-id';
import { createGateway, type Gateway } from '@weir/gateway/app';
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
}

/** What this process serves over HTTP: the gateway's endpoints, and the control role's where it has that role. */
export function createApp(deps: AppDeps): Gateway {
  const { roles, config, ports, analytics, adminToken, logger, clock, metrics, readiness } = deps;
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
    routers: [createSnippetRoutes({ files: deps.files }), ...controlRouters],
    clock,
    newEventId: createEventIds(clock, (bytes) => randomFillSync(bytes)),
  });
}

import type { Refuse } from '@weir/runtime/http/refused-requests';
import { createTokenUses } from '@weir/runtime/token-uses';
import { type Express, Router } from 'express';
import { createAuthenticate } from './admission/authenticate.ts';
import { createFindClientIp } from './admission/find-client-ip.ts';
import { createKeyClaims } from './admission/key-claims.ts';
import { reportSingleNetworkSites } from './admission/proxy-misconfiguration-metric.ts';
import { createAppendBatcher } from './append/append-batcher.ts';
import type { GatewayDeps, IngestDeps, OperationsDeps, RouteDeps } from './gateway-deps.ts';
import { createGatewayMetrics, type GatewayMetrics } from './gateway-metrics.ts';
import { createReplies, type Replies } from './http/gateway-reply.ts';
import { mountRoutes } from './http/mount-routes.ts';
import { BODY_BYTES_MAX, createReadBody } from './http/read-request-body.ts';
import type { Handle, OperationsRoute, Route } from './http/route.ts';
import { GATEWAY_OPERATIONS as OPERATIONS } from './openapi/gateway-operations.ts';
import { collectPreflight, collectRoute } from './routes/collect-route.ts';
import { BATCH_BYTES_MAX, eventsBatchRoute } from './routes/events-batch-route.ts';
import { eventsRoute } from './routes/events-route.ts';
import { healthz, metricsText, openApi, readyz } from './routes/health-route.ts';
import { identifyRoute } from './routes/identify-route.ts';

export interface Gateway {
  readonly app: Express;
  /** Answers requests that the HTTP server cannot parse or pass to the application. */
  readonly refuse: Refuse;
  /** Resolves when each accepted request has been answered and each claim on an idempotency key is confirmed. */
  drain(): Promise<void>;
}

const COLLECT_PATH = '/api/collect';

/**
 * All routes of the gateway. Status 405 with `Allow`, API keys, rate limits, body limits and the OpenAPI document follow from
 * this table. OPERATIONS_ROUTES has the routes of every process, and snippet-routes.ts those of static files.
 */
const ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: '/api/v1/events',
    endpoint: 'events',
    scope: 'events:write',
    rateLimit: 'events',
    bodyBytesMax: BODY_BYTES_MAX,
    operation: OPERATIONS.sendEvent,
    handler: eventsRoute,
  },
  {
    method: 'POST',
    path: '/api/v1/events/batch',
    endpoint: 'events',
    scope: 'events:write',
    rateLimit: 'events',
    bodyBytesMax: BATCH_BYTES_MAX,
    operation: OPERATIONS.sendEvents,
    handler: eventsBatchRoute,
  },
  {
    method: 'POST',
    path: '/api/identify',
    endpoint: 'identify',
    scope: 'identify:write',
    rateLimit: 'identify',
    bodyBytesMax: BODY_BYTES_MAX,
    operation: OPERATIONS.identify,
    handler: identifyRoute,
  },
  {
    method: 'POST',
    path: COLLECT_PATH,
    endpoint: 'collect',
    rateLimit: 'collect',
    bodyBytesMax: BODY_BYTES_MAX,
    operation: OPERATIONS.collect,
    handler: collectRoute,
  },
  {
    method: 'OPTIONS',
    path: COLLECT_PATH,
    endpoint: 'collect',
    operation: OPERATIONS.collectPreflight,
    handler: collectPreflight,
  },
];

/** The routes that every process serves, with or without the gateway role. */
const OPERATIONS_ROUTES: readonly OperationsRoute[] = [
  { method: 'GET', path: '/healthz', endpoint: 'other', operation: OPERATIONS.healthz, handler: healthz },
  { method: 'GET', path: '/readyz', endpoint: 'other', operation: OPERATIONS.readyz, handler: readyz },
  { method: 'GET', path: '/metrics', endpoint: 'other', operation: OPERATIONS.metrics, handler: metricsText },
  { method: 'GET', path: '/openapi.json', endpoint: 'other', operation: OPERATIONS.openapi, handler: openApi },
];

/** The route table, with the routes of `/api/collect` repeated for each path in `COLLECT_PATHS`. */
export function gatewayRoutes(collectPaths: readonly string[]): readonly Route[] {
  const aliases = collectPaths.flatMap((path, index) =>
    ROUTES.filter((route) => route.path === COLLECT_PATH).map((route) => ({
      ...route,
      path,
      operation: { ...route.operation, id: `${route.operation.id}Alias${index + 1}` },
    })),
  );
  return [...ROUTES, ...aliases, ...OPERATIONS_ROUTES];
}

export function createGateway(deps: GatewayDeps): Gateway {
  const gateway = createIngest(deps, gatewayRoutes(deps.config.collectPaths));
  reportSingleNetworkSites(deps.metrics, deps.proxyDetector, deps.logger);
  return gateway;
}

/**
 * Creates the gateway of one of several gateway processes. It serves the routes that accept records, and the files of the snippet. `forward`
 * passes all other requests to the main process.
 */
export function createGatewayProcessApp(deps: IngestDeps, forward: Handle): Gateway {
  const routes = gatewayRoutes(deps.config.collectPaths).map((route) =>
    OPERATIONS_ROUTES.some(({ path }) => path === route.path) ? { ...route, handler: () => forward } : route,
  );
  const others = Router();
  others.use(forward);
  return createIngest({ ...deps, routers: [...(deps.routers ?? []), others] }, routes);
}

function createIngest<Deps extends IngestDeps>(deps: Deps, routes: readonly Route[]): Gateway {
  const metrics: GatewayMetrics = createGatewayMetrics(deps.metrics, () => batcher.waiting());
  const batcher = createAppendBatcher({
    eventLog: deps.eventLog,
    keyClaims: createKeyClaims(deps.stateStore, metrics),
    lingerMs: deps.config.batch.appendLingerMs,
    clock: deps.clock,
    metrics,
  });
  const tokenUses = createTokenUses(deps);
  const findClientIp = createFindClientIp(deps.config);
  const routeDeps: Deps & RouteDeps = {
    ...deps,
    tokenUses,
    batcher,
    traitsDropped: metrics.traitsDropped,
    readBody: createReadBody(),
    authenticate: createAuthenticate(deps.registry),
    clientIpOf: (request) => findClientIp(request).address,
  };
  return {
    ...mountRoutes(routes, routeDeps, metrics),
    async drain() {
      await batcher.drain();
      await tokenUses.idle();
    },
  };
}

/**
 * Creates the application of a process without the gateway role. It serves health, metrics, the OpenAPI document, and the routers of the other roles.
 */
export function createOperations(deps: OperationsDeps): Gateway {
  const metrics = createGatewayMetrics(deps.metrics, () => 0);
  return { ...mountRoutes(OPERATIONS_ROUTES, deps, metrics), drain: async () => undefined };
}

/**
 * Creates the application of a process that waits for the event log. Requests with records, and requests with a path of another role, get 503.
 * Preflights of browsers, other methods and malformed requests get the same answers as from a gateway.
 */
export function createWaitingGateway(deps: OperationsDeps, collectPaths: readonly string[]): Gateway {
  const metrics = createGatewayMetrics(deps.metrics, () => 0);
  const routes = gatewayRoutes(collectPaths).map((route) =>
    'rateLimit' in route ? { ...route, handler: unavailable } : route,
  );
  const others = Router();
  others.use(
    unavailable(
      deps,
      createReplies('other', () => undefined),
    ),
  );
  return { ...mountRoutes(routes, { ...deps, routers: [others] }, metrics), drain: async () => undefined };
}

function unavailable(_deps: unknown, replies: Replies): Handle {
  return (_request, response) => replies.unavailable(response);
}

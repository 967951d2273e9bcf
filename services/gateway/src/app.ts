import type { RequestHandler } from 'express';
import { createAppendBatcher } from './append-batcher.ts';
import { createAuthenticate } from './authenticate.ts';
import { createClientAddress } from './client-address.ts';
import { showCrowdedSites } from './crowded-metric.ts';
import type { GatewayDeps, RouteDeps } from './gateway-deps.ts';
import { createGatewayMetrics, type GatewayMetrics } from './gateway-metrics.ts';
import { createKeyClaims } from './key-claims.ts';
import { bareApp, type Endpoint, mountOperations, only, type Served } from './operations.ts';
import { createReplies, type Replies } from './reply.ts';
import { collectRoute } from './routes/collect.ts';
import { eventsRoute } from './routes/events.ts';
import { eventsBatchRoute } from './routes/events-batch.ts';
import { identifyRoute } from './routes/identify.ts';

export interface Gateway extends Served {
  /** Resolves when every request taken so far has been answered and every key of one is confirmed. */
  drain(): Promise<void>;
}

const COLLECT_METHODS = 'POST, OPTIONS';
const PREFLIGHT = [
  'Access-Control-Allow-Methods',
  COLLECT_METHODS,
  'Access-Control-Allow-Headers',
  'Content-Type',
  'Access-Control-Max-Age',
  '86400',
] as const;

export function createGateway(deps: GatewayDeps): Gateway {
  const metrics: GatewayMetrics = createGatewayMetrics(deps.metrics, () => batcher.waiting());
  const batcher = createAppendBatcher({
    eventLog: deps.eventLog,
    keyClaims: createKeyClaims(deps.stateStore, metrics),
    lingerMs: deps.config.batch.appendLingerMs,
    clock: deps.clock,
    metrics,
  });
  showCrowdedSites(deps.metrics, deps.hitNetworks, deps.logger);
  const routeDeps: RouteDeps = {
    ...deps,
    batcher,
    authenticate: createAuthenticate(deps.registry),
    clientAddress: createClientAddress(deps.config),
  };
  const events = createReplies('events', metrics.countReplies('events'));
  const identify = createReplies('identify', metrics.countReplies('identify'));
  const collect = createReplies('collect', metrics.countReplies('collect'));

  const app = bareApp();

  app.route('/api/v1/events').post(eventsRoute(routeDeps, events)).all(only('POST', events));
  app.route('/api/v1/events/batch').post(eventsBatchRoute(routeDeps, events)).all(only('POST', events));
  const collectHandler = collectRoute(routeDeps, collect);
  const collectPaths = ['/api/collect', ...deps.config.collectPaths];
  for (const path of collectPaths) {
    app.route(path).post(collectHandler).options(preflight(collect)).all(only(COLLECT_METHODS, collect));
  }
  app.route('/api/identify').post(identifyRoute(routeDeps, identify)).all(only('POST', identify));

  const endpoints: Record<string, Endpoint> = {
    '/api/v1/events': { replies: events, allow: 'POST' },
    '/api/v1/events/batch': { replies: events, allow: 'POST' },
    '/api/identify': { replies: identify, allow: 'POST' },
  };
  for (const path of collectPaths) endpoints[path] = { replies: collect, allow: COLLECT_METHODS };
  const refuse = mountOperations(app, deps, metrics, endpoints);

  return { app, refuse, drain: () => batcher.drain() };
}

function preflight(replies: Replies): RequestHandler {
  return (_request, response) => replies.empty(response, 204, PREFLIGHT);
}

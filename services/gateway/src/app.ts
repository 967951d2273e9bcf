import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import { createAppendBatcher } from './append-batcher.ts';
import { createAuthenticate } from './authenticate.ts';
import { createClientAddress } from './client-address.ts';
import type { GatewayDeps, RouteDeps } from './gateway-deps.ts';
import { createGatewayMetrics, type GatewayMetrics } from './gateway-metrics.ts';
import { createKeyClaims } from './key-claims.ts';
import { openApiDocument } from './openapi/document.ts';
import { createReplies, type Replies } from './reply.ts';
import { collectRoute } from './routes/collect.ts';
import { eventsRoute } from './routes/events.ts';
import { healthz, metricsText, openapi, readyz } from './routes/health.ts';
import { identifyRoute } from './routes/identify.ts';

export interface Gateway {
  readonly app: Express;
  /** Resolves when every request taken so far has been answered and every key of one is confirmed. */
  drain(): Promise<void>;
}

const PREFLIGHT = [
  'Access-Control-Allow-Methods',
  'POST, OPTIONS',
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
  const routeDeps: RouteDeps = {
    ...deps,
    batcher,
    authenticate: createAuthenticate(deps.registry),
    clientAddress: createClientAddress(deps.config.trustedProxies),
  };
  const events = createReplies('events', metrics.countReplies('events'));
  const identify = createReplies('identify', metrics.countReplies('identify'));
  const collect = createReplies('collect', metrics.countReplies('collect'));
  const other = createReplies('other', metrics.countReplies('other'));

  const document = openApiDocument(deps.config.collectPaths);

  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing').enable('strict routing');

  app.route('/api/v1/events').post(eventsRoute(routeDeps, events)).all(only('POST', events));
  const collectHandler = collectRoute(routeDeps, collect);
  for (const path of ['/api/collect', ...deps.config.collectPaths]) {
    app.route(path).post(collectHandler).options(preflight(collect)).all(only('POST, OPTIONS', collect));
  }
  app.route('/api/identify').post(identifyRoute(routeDeps, identify)).all(only('POST', identify));

  app.route('/healthz').get(healthz(other)).all(only('GET, HEAD', other));
  app.route('/readyz').get(readyz(deps.ready, other)).all(only('GET, HEAD', other));
  app.route('/metrics').get(metricsText(deps.metrics)).all(only('GET, HEAD', other));
  app.route('/openapi.json').get(openapi(document, other)).all(only('GET, HEAD', other));
  for (const router of deps.routers ?? []) app.use(router);
  app.use((_request, response) => other.error(response, 404, 'no such path'));
  app.use(
    answerFailure(
      deps,
      metrics,
      { '/api/v1/events': events, '/api/identify': identify, '/api/collect': collect },
      other,
    ),
  );

  return { app, drain: () => batcher.drain() };
}

function preflight(replies: Replies): RequestHandler {
  return (_request, response) => replies.empty(response, 204, PREFLIGHT);
}

/** A path that exists, asked with another method. */
function only(allowed: string, replies: Replies): RequestHandler {
  return (request, response) => {
    replies.error(response, 405, `${request.method} is not allowed here; allowed: ${allowed}`, ['Allow', allowed]);
  };
}

/** What is left are requests that Express can't read, and bugs. One request's bug must not end everyone's. */
function answerFailure(
  { logger }: GatewayDeps,
  metrics: GatewayMetrics,
  endpoints: Readonly<Record<string, Replies>>,
  other: Replies,
): ErrorRequestHandler {
  return (error, request, response, next) => {
    if (response.headersSent) return next(error);
    const replies = endpoints[request.path] ?? other;
    if (error?.status === 400) return replies.error(response, 400, 'the request is malformed');
    metrics.failed();
    logger.error({ err: error, method: request.method, route: request.route?.path }, 'a request failed');
    replies.error(response, 500, 'internal error');
  };
}

import type { Refuse } from '@weir/runtime/refused-requests';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { GatewayDeps } from './gateway-deps.ts';
import { createGatewayMetrics, type GatewayMetrics } from './gateway-metrics.ts';
import { openApiDocument } from './openapi/document.ts';
import { createReplies, type Replies } from './reply.ts';
import { healthz, metricsText, openapi, readyz } from './routes/health.ts';

/** An endpoint's way of answering, and the methods that it has. */
export interface Endpoint {
  readonly replies: Replies;
  readonly allow: string;
}

/** An application, and its answers to what the HTTP server can't hand to it. */
export interface Served {
  readonly app: Express;
  readonly refuse: Refuse;
}

export type OperationsDeps = Pick<GatewayDeps, 'logger' | 'metrics' | 'ready' | 'routers'> & {
  readonly config: Pick<GatewayDeps['config'], 'collectPaths'>;
};

/** An application as Weir's processes have it: exact paths, nothing about itself in the headers. */
export function bareApp(): Express {
  return express().disable('x-powered-by').disable('etag').enable('case sensitive routing').enable('strict routing');
}

/** What a process serves that has no gateway role: its health, its numbers, and the routers of its own roles. */
export function createOperations(deps: OperationsDeps): Served & { drain(): Promise<void> } {
  const app = bareApp();
  const refuse = mountOperations(
    app,
    deps,
    createGatewayMetrics(deps.metrics, () => 0),
    {},
  );
  return { app, refuse, drain: async () => undefined };
}

/** Mounts what every process serves, last: what nobody has answered by here is a 404. */
export function mountOperations(
  app: Express,
  deps: OperationsDeps,
  metrics: GatewayMetrics,
  endpoints: Readonly<Record<string, Endpoint>>,
): Refuse {
  const other = createReplies('other', metrics.countReplies('other'));
  const get = (path: string, handler: RequestHandler) => app.route(path).get(handler).all(only('GET, HEAD', other));

  get('/healthz', healthz(other));
  get('/readyz', readyz(deps.ready, other));
  get('/metrics', metricsText(deps.metrics));
  get('/openapi.json', openapi(openApiDocument(deps.config.collectPaths), other));
  for (const router of deps.routers ?? []) app.use(router);
  app.use((_request, response) => other.error(response, 404, 'no such path'));
  app.use(answerFailure(deps, metrics, endpoints, other));
  return refuseWith(endpoints, other);
}

/** Most endpoints answer in the envelope, so it is what a request gets of which nobody knows where it was going. */
function refuseWith(endpoints: Readonly<Record<string, Endpoint>>, other: Replies): Refuse {
  return ({ response, path, status, message }) => {
    const { replies, allow } = endpoints[path] ?? { replies: other, allow: undefined };
    if (status !== 405) replies.error(response, status, message);
    else if (allow === undefined) replies.error(response, 400, message);
    else replies.error(response, 405, `${message}; allowed: ${allow}`, ['Allow', allow]);
  };
}

/** A path that exists, asked with another method. */
export function only(allowed: string, replies: Replies): RequestHandler {
  return (request, response) => {
    replies.error(response, 405, `${request.method} is not allowed here; allowed: ${allowed}`, ['Allow', allowed]);
  };
}

/** What is left are requests that Express can't read, and bugs. One request's bug must not end everyone's. */
function answerFailure(
  { logger }: OperationsDeps,
  metrics: GatewayMetrics,
  endpoints: Readonly<Record<string, Endpoint>>,
  other: Replies,
): ErrorRequestHandler {
  return (error, request, response, next) => {
    if (response.headersSent) return next(error);
    const replies = endpoints[request.path]?.replies ?? other;
    if (error?.status === 400) return replies.error(response, 400, 'the request is malformed');
    metrics.failed();
    logger.error({ err: error, method: request.method, route: request.route?.path }, 'a request failed');
    replies.error(response, 500, 'internal error');
  };
}

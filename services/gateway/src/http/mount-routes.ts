import type { Refuse } from '@weir/runtime/http/refused-requests';
import { allowedMethods, expressPath, routesByPath } from '@weir/runtime/http/route-table';
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from 'express';
import type { IngestDeps } from '../gateway-deps.ts';
import type { GatewayMetrics } from '../gateway-metrics.ts';
import { ALLOW_ORIGIN, rawHeaders } from './cors.ts';
import { createReplies, type Endpoint, type Replies } from './gateway-reply.ts';
import type { Handle, Route } from './route.ts';

/** The dependencies that all routes need. */
export type MountDeps = Pick<IngestDeps, 'logger' | 'disk' | 'routers'>;

/** How errors of one path are answered. */
interface PathReplies {
  readonly replies: Replies;
  /** The value of the header `Allow`. */
  readonly allow: string;
}

/** Creates an Express application that ignores a trailing slash, and distinguishes upper and lower case in paths. */
export function bareApp(): Express {
  return express().disable('x-powered-by').disable('etag').enable('case sensitive routing');
}

/** Creates an application that tries the routes of the table, then the routers of other roles, and otherwise answers 404. */
export function mountRoutes<Deps extends MountDeps>(
  routes: readonly Route[],
  deps: Deps,
  metrics: GatewayMetrics,
): { readonly app: Express; readonly refuse: Refuse } {
  const app = bareApp();
  const endpoints = new Map<Endpoint, Replies>();
  const repliesOf = (endpoint: Endpoint): Replies => {
    const replies = endpoints.get(endpoint) ?? createReplies(endpoint, metrics.countReplies(endpoint), deps.disk);
    endpoints.set(endpoint, replies);
    return replies;
  };
  const paths = new Map<string, PathReplies>();

  for (const [path, ofPath] of routesByPath(routes)) {
    const replies = repliesOf(ofPath[0]?.endpoint ?? 'other');
    const allow = allowedMethods(ofPath);
    paths.set(withoutSlash(path), { replies, allow });
    const mounted = app.route(expressPath(path));
    for (const route of ofPath) {
      // The kind of a route determines the type of its handler, but TypeScript cannot derive this from the table.
      const create = route.handler as unknown as (deps: Deps, replies: Replies, route: Route) => Handle;
      mounted[METHODS[route.method]](create(deps, replies, route));
    }
    mounted.all(methodNotAllowed(allow, replies));
  }

  const other = repliesOf('other');
  for (const router of deps.routers ?? []) app.use(router);
  app.use((_request, response) => other.error(response, 404, 'no such path'));
  app.use(answerFailure(deps, metrics, paths, other));
  return { app, refuse: refuseWith(paths, other) };
}

const METHODS = { GET: 'get', POST: 'post', PATCH: 'patch', DELETE: 'delete', OPTIONS: 'options' } as const;

/**
 * Answers requests that the HTTP server refuses before any route, in the format of their endpoint. An unknown path gets the format of the
 * endpoint `other`.
 */
function refuseWith(paths: ReadonlyMap<string, PathReplies>, other: Replies): Refuse {
  return ({ response, path, status, message }) => {
    const { replies, allow } = paths.get(withoutSlash(path)) ?? { replies: other, allow: undefined };
    // An empty `path` means that the path is unknown. The request can be a collect hit, so the browser must be able to read the answer.
    const headers = path === '' ? rawHeaders(ALLOW_ORIGIN) : [];
    if (status !== 405) replies.error(response, status, message, headers);
    else if (allow === undefined) replies.error(response, 400, message, headers);
    else replies.error(response, 405, `${message}; allowed: ${allow}`, ['Allow', allow]);
  };
}

/** The routes ignore one slash at the end of a path. */
function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

export function methodNotAllowed(allow: string, replies: Replies): RequestHandler {
  return (request, response) => {
    replies.error(response, 405, `${request.method} is not allowed here; allowed: ${allow}`, ['Allow', allow]);
  };
}

/** Answers 400 if Express cannot read the request, and 500 after a bug. A bug in one request must not end the process. */
function answerFailure(
  { logger }: MountDeps,
  metrics: GatewayMetrics,
  paths: ReadonlyMap<string, PathReplies>,
  other: Replies,
): ErrorRequestHandler {
  return (error, request, response, next) => {
    if (response.headersSent) return next(error);
    const replies = paths.get(withoutSlash(request.path))?.replies ?? other;
    if (error?.status === 400) return replies.error(response, 400, 'the request is malformed');
    metrics.failed();
    logger.error({ err: error, method: request.method, route: request.route?.path }, 'a request failed');
    replies.error(response, 500, 'internal error');
  };
}

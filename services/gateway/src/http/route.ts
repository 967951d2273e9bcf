import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Scope, SiteLimits } from '@weir/domain/registry/site';
import type { Schema } from '@weir/runtime/http/openapi';
import type { TableRoute } from '@weir/runtime/http/route-table';
import type { OperationsDeps, RouteDeps } from '../gateway-deps.ts';
import type { Endpoint, Replies } from './gateway-reply.ts';

/** The handler of a route. It rejects only because of a bug. Express then passes the error to the last middleware, which answers 500. */
export type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** The part of a route's entry in the OpenAPI document that cannot be derived from the route table. */
export interface Operation {
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Schema[];
  readonly requestBody?: Schema;
  /** Responses by status. They replace the responses that follow from the route. */
  readonly responses: Schema;
}

interface GatewayRoute extends TableRoute {
  /** Determines the shape of error bodies, and the label of the metric that counts replies. */
  readonly endpoint: Endpoint;
  readonly operation: Operation;
}

/** A route for health, metrics or the OpenAPI document. Every process serves these routes. */
export interface OperationsRoute extends GatewayRoute {
  readonly handler: (deps: OperationsDeps, replies: Replies) => Handle;
}

/** A route for browsers, which have no API key. */
export interface CollectRoute extends GatewayRoute {
  readonly rateLimit: keyof SiteLimits;
  readonly bodyBytesMax: number;
  readonly handler: (deps: RouteDeps, replies: Replies, route: CollectRoute) => Handle;
}

/** A route for the servers of a site, which have an API key. */
export interface AuthenticatedRoute extends GatewayRoute {
  readonly scope: Scope;
  readonly rateLimit: Exclude<keyof SiteLimits, 'collect'>;
  readonly bodyBytesMax: number;
  readonly handler: (deps: RouteDeps, replies: Replies, route: AuthenticatedRoute) => Handle;
}

export type Route = OperationsRoute | CollectRoute | AuthenticatedRoute;

const JSON_CONTENT = /^application\/json[ \t]*(;|$)/i;
export const CONTENT_TYPE_MESSAGE = 'Content-Type must be application/json';

export function isJsonContent(request: IncomingMessage): boolean {
  const type = request.headers['content-type'];
  return type === 'application/json' || (type !== undefined && JSON_CONTENT.test(type));
}

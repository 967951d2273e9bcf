import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Scope, SiteLimits } from '@weir/domain/registry/site';
import type { Schema } from '@weir/runtime/http/openapi';
import type { TableRoute } from '@weir/runtime/http/route-table';
import type { OperationsDeps, RouteDeps } from '../gateway-deps.ts';
import type { Endpoint, Replies } from './gateway-reply.ts';

/** A route's handler. A rejection is a bug: Express passes it to the last middleware, which answers 500. */
export type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** What the OpenAPI document says of a route besides what follows from the route itself. */
export interface Operation {
  readonly id: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Schema[];
  readonly requestBody?: Schema;
  /** By status. They replace the responses that follow from the route. */
  readonly responses: Schema;
}

interface GatewayRoute extends TableRoute {
  /** Decides the shape of errors, and the label of the metric that counts replies. */
  readonly endpoint: Endpoint;
  readonly operation: Operation;
}

/** Health, metrics and the OpenAPI document: every process serves them. */
export interface OperationsRoute extends GatewayRoute {
  readonly handler: (deps: OperationsDeps, replies: Replies) => Handle;
}

/** A request of a browser, which has no API key. */
export interface CollectRoute extends GatewayRoute {
  readonly rateLimit: keyof SiteLimits;
  readonly bodyBytesMax: number;
  readonly handler: (deps: RouteDeps, replies: Replies, route: CollectRoute) => Handle;
}

/** A request of a site's server. */
export interface AuthenticatedRoute extends GatewayRoute {
  /** The scope that the API key must have. */
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

import {
  ACCEPT_ENCODING,
  ALLOW,
  ENVELOPE,
  emptyResponse,
  jsonResponse,
  type OpenApiPart,
  object,
  RETRY_AFTER,
  type Schema,
  schemaRef,
  text,
} from '@weir/runtime/http/openapi';
import { openApiPaths } from '@weir/runtime/http/route-table';
import { gatewayRoutes } from '../app.ts';
import type { Route } from '../http/route.ts';
import { CORS } from './gateway-operations.ts';
import { REQUEST_SCHEMAS } from './request-schemas.ts';

/** The gateway's part of the OpenAPI document. The schemas of its requests are made from the schemas with which the gateway validates requests. */
export function gatewayOpenApi(collectPaths: readonly string[]): OpenApiPart {
  return {
    tags: ['ingestion', 'health'],
    paths: openApiPaths(gatewayRoutes(collectPaths), operationObject),
    schemas: { ...REQUEST_SCHEMAS, IdentifyError: object({ error: text }) },
    securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'A server API key of a site.' } },
  };
}

function operationObject(route: Route): Schema {
  const { id, responses, ...described } = route.operation;
  return {
    operationId: id,
    tags: [route.endpoint === 'other' ? 'health' : 'ingestion'],
    ...described,
    security: 'scope' in route ? [{ apiKey: [] }] : [],
    responses: { ...errorsOf(route), ...responses },
  };
}

/** The error responses that follow from a row of the route table. */
function errorsOf(route: Route): Schema {
  const error = (description: string, headers?: Schema): Schema => errorResponse(route, description, headers);
  return {
    405: error('Another method.', ALLOW),
    ...('scope' in route && {
      401: error('The API key is missing or invalid.'),
      403: error(`The API key does not have the scope ${route.scope}, or belongs to another site.`),
    }),
    ...('rateLimit' in route && {
      429: emptyResponse('Rate limit exceeded.', { ...corsOf(route), ...RETRY_AFTER }),
    }),
    ...('bodyBytesMax' in route && {
      400: error('Malformed, or a field broke a rule; the message names both.'),
      413: error(`The body is over ${route.bodyBytesMax / 1024} KiB.`),
      415: error('The Content-Encoding is not supported.', ACCEPT_ENCODING),
      503: error('The event log cannot take the record now: send it again.', RETRY_AFTER),
    }),
  };
}

function errorResponse(route: Route, description: string, headers?: Schema): Schema {
  if (route.endpoint === 'collect') return emptyResponse(description, { ...corsOf(route), ...headers });
  return jsonResponse(description, route.endpoint === 'identify' ? schemaRef('IdentifyError') : ENVELOPE, headers);
}

function corsOf(route: Route): Schema {
  return route.endpoint === 'collect' ? CORS : {};
}

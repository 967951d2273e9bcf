import {
  ACCEPT_ENCODING,
  ALLOW,
  ENVELOPE,
  jsonBody,
  jsonResponse,
  type OpenApiPart,
  RETRY_AFTER,
  type Schema,
} from '@weir/runtime/http/openapi';
import { openApiPaths } from '@weir/runtime/http/route-table';
import { ADMIN_PREFIX, ADMIN_ROUTES } from '../admin-routes.ts';
import { ADMIN_BODY_BYTES_MAX, type AdminRoute } from '../http/admin-route.ts';
import type { Role } from '../sign-in/caller.ts';
import { ADMIN_SCHEMAS } from './schemas/admin-api-schemas.ts';
import { ADMIN_REQUEST_SCHEMAS, publishBody } from './schemas/admin-request-schemas.ts';

/** The admin API's part of the OpenAPI document. */
export function controlOpenApi(): OpenApiPart {
  const routes = ADMIN_ROUTES.map((route) => ({ ...route, path: `${ADMIN_PREFIX}${route.path}` }));
  return {
    tags: ['admin'],
    paths: openApiPaths(routes, operationObject),
    schemas: { ...ADMIN_REQUEST_SCHEMAS, ...ADMIN_SCHEMAS },
    securitySchemes: {
      adminToken: { type: 'http', scheme: 'bearer', description: 'The admin token.' },
      viewerToken: { type: 'http', scheme: 'bearer', description: 'The token of a viewer of the site.' },
      session: {
        type: 'apiKey',
        in: 'cookie',
        name: 'weir_session',
        description: 'A session of the dashboard; over TLS the cookie is __Host-weir_session.',
      },
    },
  };
}

const SECURITY: Readonly<Record<Role, readonly Schema[]>> = {
  admin: [{ adminToken: [] }, { session: [] }],
  viewer: [{ adminToken: [] }, { viewerToken: [] }, { session: [] }],
  anyone: [],
};

function operationObject({ operation, role, body, bodyBytesMax = ADMIN_BODY_BYTES_MAX }: AdminRoute): Schema {
  const { id, request, responses, ...described } = operation;
  // A call without credentials accepts no compressed body (admin-route.ts).
  const acceptEncoding = role === 'anyone' ? undefined : ACCEPT_ENCODING;
  const schema = request ?? (body === undefined ? undefined : publishBody(body));
  return {
    operationId: id,
    tags: ['admin'],
    ...described,
    security: SECURITY[role],
    ...(schema === undefined ? {} : { requestBody: jsonBody(schema, { required: 'required' in (body ?? {}) }) }),
    responses: {
      400: jsonResponse('Malformed, or a field broke a rule.', ENVELOPE),
      401: jsonResponse('The token or the session is missing or not valid.', ENVELOPE),
      403: jsonResponse('The token cannot be used for this call, or a page of another origin sent it.', ENVELOPE),
      405: jsonResponse('Another method.', ENVELOPE, ALLOW),
      408: jsonResponse('The request took too long to arrive.', ENVELOPE),
      ...(schema !== undefined && {
        413: jsonResponse(`The body is over ${bodyBytesMax / 1024} KiB.`, ENVELOPE),
        415: jsonResponse('The Content-Encoding is not supported.', ENVELOPE, acceptEncoding),
      }),
      431: jsonResponse('The request line and the headers are over 16 KiB.', ENVELOPE),
      500: jsonResponse('An internal error of Weir. The log of Weir describes it.', ENVELOPE),
      503: jsonResponse('The event log or ClickHouse is not available: send it again.', ENVELOPE, RETRY_AFTER),
      ...responses,
    },
  };
}

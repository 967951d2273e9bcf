import { ADMIN_PATHS } from './admin-paths.ts';
import { ADMIN_SCHEMAS } from './admin-schemas.ts';
import { INGESTION_PATHS } from './ingestion-paths.ts';
import { REPORT_PATHS } from './report-paths.ts';
import { REQUEST_SCHEMAS, type Schema } from './request-schemas.ts';
import { constant, json, object, RESPONSE_SCHEMAS, text } from './responses.ts';

function health(operationId: string, summary: string, responses: Schema): Schema {
  return { get: { operationId, tags: ['health'], summary, security: [], responses } };
}

const HEALTH_PATHS: Readonly<Record<string, Schema>> = {
  '/healthz': health('healthz', 'Alive', { 200: json('Alive.', object({ status: constant('ok') })) }),
  '/readyz': health('readyz', 'Able to accept', {
    200: json('Ready.', object({ status: constant('ready') })),
    503: json('Not ready.', object({ status: constant('not ready'), missing: { type: 'array', items: text } })),
  }),
  '/metrics': health('metrics', 'Prometheus text', {
    200: { description: 'The metrics.', content: { 'text/plain': { schema: text } } },
  }),
  '/openapi.json': health('openapi', 'This document', { 200: json('OpenAPI 3.1.', { type: 'object' }) }),
};

/** OpenAPI 3.1 of everything: the requests' schemas are those that the gateway checks with. */
export function openApiDocument(collectPaths: readonly string[]): Schema {
  const further = Object.fromEntries(collectPaths.map((path, index) => [path, aliasOfCollect(index)]));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Weir',
      version: '1.0.0',
      summary: 'Analytics ingestion that never loses and never doubles an event.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [{ name: 'ingestion' }, { name: 'admin' }, { name: 'health' }],
    paths: { ...INGESTION_PATHS, ...further, ...ADMIN_PATHS, ...REPORT_PATHS, ...HEALTH_PATHS },
    components: {
      securitySchemes: {
        apiKey: { type: 'http', scheme: 'bearer', description: 'A server API key of a site.' },
        adminToken: { type: 'http', scheme: 'bearer', description: 'The admin token.' },
      },
      schemas: { ...REQUEST_SCHEMAS, ...RESPONSE_SCHEMAS, ...ADMIN_SCHEMAS },
    },
  };
}

/** A further path of COLLECT_PATHS: the same operations under names of their own. */
function aliasOfCollect(index: number): Schema {
  const operations = Object.entries(INGESTION_PATHS['/api/collect'] ?? {}) as [string, Schema][];
  return Object.fromEntries(
    operations.map(([method, operation]) => [
      method,
      { ...operation, operationId: `${operation.operationId}Alias${index + 1}` },
    ]),
  );
}

import SwaggerParser from '@apidevtools/swagger-parser';
import { checkUserQuery } from '@weir/adapters/clickhouse-user-query';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { openApiDocument } from '../src/openapi/document.ts';

type Operation = {
  operationId?: string;
  requestBody?: { content: Record<string, { schema: object }> };
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};
const document = () => structuredClone(openApiDocument(['/t/hit'])) as unknown as Document;

it('is valid OpenAPI 3.1', async () => {
  await expect(SwaggerParser.validate(document() as never)).resolves.toBeDefined();
});

it('has every path of api.md and decisions.md', () => {
  expect(Object.keys(document().paths)).toEqual(
    expect.arrayContaining([
      '/api/v1/events',
      '/api/v1/events/batch',
      '/api/identify',
      '/api/collect',
      '/t/hit',
      '/api/admin/sites',
      '/api/admin/sites/{site_id}',
      '/api/admin/sites/{site_id}/keys',
      '/api/admin/sites/{site_id}/keys/{key_id}',
      '/api/admin/sites/{site_id}/exclusions',
      '/api/admin/sites/{site_id}/exclusions/{rule_id}',
      '/api/admin/sites/{site_id}/unlink',
      '/api/admin/sql',
      '/api/admin/pipeline',
      '/api/admin/audit',
      '/api/admin/whoami',
      '/api/admin/sites/{site_id}/stats',
      '/api/admin/sites/{site_id}/breakdown',
      '/api/admin/sites/{site_id}/imports',
      '/api/admin/sites/{site_id}/imports/{digest}/chunks',
      '/api/admin/sites/{site_id}/imports/{digest}/finish',
      '/api/admin/sites/{site_id}/imports/{digest}/release',
      '/healthz',
      '/readyz',
      '/metrics',
      '/openapi.json',
    ]),
  );
});

it('names each operation once', () => {
  const names = Object.values(document().paths).flatMap((path) =>
    Object.values(path).flatMap((operation) => operation.operationId ?? []),
  );
  expect(new Set(names).size).toBe(names.length);
});

describe('the published request schemas say what Weir does', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'doc', ...document() });
  const accepts = (name: string, body: unknown) => ajv.validate(`doc#/components/schemas/${name}`, body);

  it.each([
    [
      'ServerEvent',
      { event_name: 'x', visitorId: null, metadata: { a: 1 }, context: { userAgent: 'x', ip: null } },
      true,
    ],
    ['ServerEvent', { value: 1 }, false],
    ['ServerEvent', { name: 'x', visitorId: 'v'.repeat(65) }, false],
    ['Identity', { visitorId: 'v', user_id: 'u', plan: 'pro', removed: null }, true],
    ['Identity', { visitorId: 'v' }, false],
    ['Identity', { visitor_id: 'v', user_id: 'u', Plan: 'pro' }, false],
    ['Identity', { visitor_id: 'v', user_id: 'u', plan: {} }, false],
    ['CollectHit', { site_id: 's', visitor_id: '', session_id: '', type: 'pageview', url: null }, true],
    ['CollectHit', { site_id: 's', visitor_id: '', session_id: '', type: 'event' }, false],
    ['CollectHit', { site_id: 's', visitor_id: '', session_id: '', type: 'identify', identity: { userId: 'u' } }, true],
  ])('%s %j: %s', (name, body, expected) => {
    expect(accepts(name, body)).toBe(expected);
  });

  it.each([
    ['NewSite', { name: 'N', domain: 'example.com', limits: { collect: 1_000_000_000, events: null } }, true],
    ['NewSite', { name: 'N', domain: 'example.com', limits: { collect: 1_000_000_001 } }, false],
    ['NewSite', { name: 'N', domain: 'example.com', query_allow: null }, true],
    ['SiteChange', { query_allow: ['a', 'a'] }, false],
    ['KeyRequest', { name: 'N', scopes: [] }, false],
  ])('%s %j: %s', (name, body, expected) => {
    expect(accepts(name, body)).toBe(expected);
  });

  it('has one limit of SQL, the one that is kept', () => {
    const { schema } = document().paths['/api/admin/sql']?.post?.requestBody?.content['application/json'] ?? {};
    const query = (chars: number) => ({ query: `SELECT 1${' '.repeat(chars - 8)}` });
    for (const [chars, expected] of [
      [65_536, true],
      [65_537, false],
    ] as const) {
      expect(ajv.validate(schema ?? {}, query(chars))).toBe(expected);
      expect('statement' in checkUserQuery(query(chars).query)).toBe(expected);
    }
  });
});

import SwaggerParser from '@apidevtools/swagger-parser';
import { checkUserQuery } from '@weir/adapters/clickhouse/check-user-query';
import { ADMIN_PREFIX, ADMIN_ROUTES } from '@weir/control/admin-routes';
import { exclusionValueProblem } from '@weir/domain/exclusion/exclusion-value';
import { EXCLUSION_TYPE } from '@weir/domain/registry/admin-limits';
import { gatewayRoutes } from '@weir/gateway/app';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { openApiDocument } from '../src/openapi-document.ts';

type Operation = {
  operationId?: string;
  requestBody?: { content: Record<string, { schema: object }> };
  parameters?: { name: string; schema: object }[];
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
};
const document = () => structuredClone(openApiDocument(['/t/hit'])) as unknown as Document;

test('is valid OpenAPI 3.1', async () => {
  await expect(SwaggerParser.validate(document() as never)).resolves.toBeDefined();
});

test('has exactly the routes of the route tables', () => {
  const table = [
    ...gatewayRoutes(['/t/hit']).map(({ method, path }) => `${method} ${path}`),
    ...ADMIN_ROUTES.map(({ method, path }) => `${method} ${ADMIN_PREFIX}${path}`),
  ];
  const documented = Object.entries(document().paths).flatMap(([path, operations]) =>
    Object.keys(operations)
      .filter((key) => key !== 'parameters')
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(documented.toSorted()).toEqual(table.toSorted());
  expect(table).toEqual(
    expect.arrayContaining(['POST /t/hit', 'OPTIONS /t/hit', 'GET /openapi.json', 'POST /api/admin/sql']),
  );
});

test('names each operation once', () => {
  const names = Object.values(document().paths).flatMap((path) =>
    Object.values(path).flatMap((operation) => operation.operationId ?? []),
  );
  expect(new Set(names).size).toBe(names.length);
});

describe('the constraints in the document are the ones that Weir enforces', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ $id: 'doc', ...document() });
  const accepts = (name: string, body: unknown) => ajv.validate(`doc#/components/schemas/${name}`, body);

  test.each([
    ['NewSite', { name: 'N', domain: 'example.com', limits: { collect: 1_000_000_000, events: null } }, true],
    ['NewSite', { name: 'N', domain: 'example.com', limits: { collect: 1_000_000_001 } }, false],
    ['NewSite', { name: 'N', domain: 'example.com', query_allow: null, timezone: null, site_id: null }, true],
    ['NewSite', { name: 'N', domain: 'example.com', timezone: 'Europe/Berlin' }, true],
    ['NewSite', { name: 'N', domain: 'example.com', timezone: 'UTC' }, true],
    ['NewSite', { name: 'N', domain: 'example.com', timezone: 'Mars/Olympus' }, false],
    ['NewSite', { name: null, domain: 'example.com' }, false],
    ['SiteChange', { query_allow: ['a', 'a'] }, false],
    ['SiteChange', { identity_verification: { required: true } }, true],
    ['SiteChange', { identity_verification: {} }, false],
    ['KeyRequest', { name: 'N', scopes: [] }, false],
    ['KeyRequest', { name: 'N' }, false],
    ['KeyRequest', { name: 'N', scopes: ['events:write'] }, true],
    ['KeyRequest', { name: 'N', scopes: ['events:write'], legacy_identify: null }, true],
    ['KeyRequest', { name: 'N', scopes: ['events:write'], legacy_identify: true }, false],
    ['KeyRequest', { name: 'N', legacy_identify: true }, true],
    ['KeyRequest', { name: 'N', legacy_identify: false }, false],
  ])('%s %j: %s', (name, body, expected) => {
    expect(accepts(name, body)).toBe(expected);
  });

  const values = [
    ...[
      '',
      '*',
      'all',
      'true',
      'x',
      ' ',
      'a\tb',
      '/a*',
      '*.example.com',
      '/a\u0085',
      'a b',
      'ä.example',
      'v'.repeat(65),
    ],
    ...['DE', 'XK', 'UK', 'DEU', '192.0.2.1', '192.0.2.0/24', '192.0.2.0/33', '192.0.2', '256.0.0.1', '01.2.3.4'],
    ...[
      '::',
      '::1',
      '2001:db8::/32',
      '2001:db8::/129',
      '2001:db8::1::',
      '1:2:3:4:5:6:7:8',
      '1:2:3:4:5:6:7',
      'fe80::1:',
    ],
    ...['1::3:4:5:6:7:8', '::2:3:4:5:6:7:8', '1:2:3:4:5:6:7::', '1:2:3:4:5:6:192.0.2.1', '12345::', 'g::1'],
  ];
  const rules = EXCLUSION_TYPE.enum.flatMap((type) => values.map((value) => [type, value] as const));
  test.each(rules)('exclusion rule %s %j', (type, value) => {
    expect(accepts('NewExclusionRule', { type, value })).toBe(exclusionValueProblem(type, value) === undefined);
  });

  test('the document has the length limit and the allowed first words of a SQL query', () => {
    const query = (chars: number) => `SELECT 1${' '.repeat(chars - 8)}`;
    const queries = [
      ...[query(65_536), query(65_537), '', ' ', 'selectx 1', 'INSERT INTO events VALUES (1)', '/* a */ select 1'],
      ...['-- a\n(SELECT 1)', 'WITH 1 AS a SELECT a', 'SHOW TABLES', 'describe events', 'DROP TABLE events'],
    ];
    for (const sql of queries) expect(accepts('SqlRequest', { query: sql })).toBe('statement' in checkUserQuery(sql));
  });
});

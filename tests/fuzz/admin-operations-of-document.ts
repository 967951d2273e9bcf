import type { WeirClient } from '@weir/testkit/weir-client';

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly string[];
}

/** A body with fields of all endpoints of the admin API. An endpoint reads only its own fields. */
export const ADMIN_BODY = {
  ...{
    name: 'n',
    domain: 'example.com',
    timezone: 'UTC',
    limits: { collect: 5 },
    scopes: ['events:write'],
    type: 'path',
    value: '/a',
  },
  ...{
    query: 'SELECT 1',
    params: {},
    filters: ['page:is:/'],
    ...{ steps: ['page:/', 'event:n'], within: '1h' },
    at: '2026-01-01',
    text: 't',
    user_id: 'u',
    visitor_id: 'v',
    visitors: ['v'],
  },
};

/**
 * Returns the operations of the admin API, without the parameter `wait`. Excludes operations that stream (`live`, `export`), that begin long work
 * on all data (`replays`, `backups`), or that sign in and out (`session`).
 */
export async function readOperations(client: WeirClient): Promise<readonly Operation[]> {
  const { json } = await client.send({ path: '/openapi.json' });
  const { paths } = json as { paths: Record<string, Record<string, { parameters?: { name: string; in: string }[] }>> };
  return Object.entries(paths)
    .filter(([path]) => path.startsWith('/api/admin/') && !/\/(live|replays|backups|export)\b|\/sessions?$/.test(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([method]) => method !== 'parameters')
        .map(([method, { parameters = [] }]) => ({
          method: method.toUpperCase(),
          path,
          parameters: parameters.filter((one) => one.in === 'query' && one.name !== 'wait').map(({ name }) => name),
        })),
    );
}

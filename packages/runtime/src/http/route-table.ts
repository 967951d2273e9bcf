import type { Schema } from './openapi.ts';

/** The members that the routes of the gateway and of control have in common. */
export interface TableRoute {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'OPTIONS';
  /** The path in the notation of OpenAPI: `/sites/{site_id}`. */
  readonly path: string;
}

/** Returns the routes of each path, in the order of the table. */
export function routesByPath<Route extends TableRoute>(
  routes: readonly Route[],
): ReadonlyMap<string, readonly Route[]> {
  const byPath = new Map<string, Route[]>();
  for (const route of routes) {
    const others = byPath.get(route.path);
    if (others === undefined) byPath.set(route.path, [route]);
    else others.push(route);
  }
  return byPath;
}

/** The value of the header `Allow` for the routes of one path. Express also answers HEAD if there is a GET. */
export function allowedMethods(routes: readonly TableRoute[]): string {
  const methods: string[] = routes.map(({ method }) => method);
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ');
}

/** Converts a path to the notation of Express: `/sites/:site_id`. */
export function expressPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1');
}

/** Returns the `paths` of the OpenAPI document: one operation per route. */
export function openApiPaths<Route extends TableRoute>(
  routes: readonly Route[],
  operationOf: (route: Route) => Schema,
): Readonly<Record<string, Schema>> {
  const paths: Record<string, Schema> = {};
  for (const [path, ofPath] of routesByPath(routes)) {
    const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string', minLength: 1 },
    }));
    paths[path] = {
      ...(parameters.length === 0 ? {} : { parameters }),
      ...Object.fromEntries(ofPath.map((route) => [route.method.toLowerCase(), operationOf(route)])),
    };
  }
  return paths;
}

import { SQL_QUERY } from '@weir/domain/admin-schemas';
import type { Router } from 'express';
import type { ControlDeps } from '../control-deps.ts';
import { defineRoute } from '../define-route.ts';
import { invalid, ok } from '../reply.ts';
import { compileBody } from '../validate.ts';

interface SqlQuery {
  readonly query: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** More than any type of ClickHouse is nested; what is deeper would overrun the stack of whoever writes it. */
const PARAMS_LEVELS_MAX = 32;

/** Read-only rules and limits are the analytics store's: `Analytics.userQuery`. */
export function sqlRoutes(router: Router, deps: Pick<ControlDeps, 'analytics'>): void {
  const check = compileBody<SqlQuery>(SQL_QUERY);
  defineRoute(router, '/sql', {
    post: async (request) => {
      const checked = check(request.body);
      if ('problem' in checked) return invalid(checked.problem);
      const { query, params = {} } = checked.value;
      if (isDeeper(params, PARAMS_LEVELS_MAX))
        return invalid(`params must be at most ${PARAMS_LEVELS_MAX} levels deep`);
      const { columns, rows } = await deps.analytics.userQuery(query, params);
      return ok({ columns, rows });
    },
  });
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((item) => isDeeper(item, levels - 1));
}

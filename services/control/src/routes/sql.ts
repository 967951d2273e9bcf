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

/** Read-only rules and limits are the analytics store's: `Analytics.userQuery`. */
export function sqlRoutes(router: Router, deps: Pick<ControlDeps, 'analytics'>): void {
  const check = compileBody<SqlQuery>(SQL_QUERY);
  defineRoute(router, '/sql', {
    post: async (request) => {
      const checked = check(request.body);
      if ('problem' in checked) return invalid(checked.problem);
      const { columns, rows } = await deps.analytics.userQuery(checked.value.query, checked.value.params ?? {});
      return ok({ columns, rows });
    },
  });
}

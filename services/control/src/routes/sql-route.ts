import { isDeeper } from '@weir/domain/json/nesting';
import type { AdminDeps } from '../control-deps.ts';
import { invalid, ok, type Reply } from '../http/admin-reply.ts';
import type { AdminRequest } from '../http/admin-route.ts';

interface SqlQuery {
  readonly query: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

/** The maximum nesting of arrays and objects in `params`. No type of ClickHouse is nested deeper. */
const PARAMS_LEVELS_MAX = 32;
/** The number of statements that run at once. Further statements wait. */
export const SQL_AT_ONCE = 4;

/** Runs a query. The analytics store makes sure that the query only reads, and limits its time and size (see `Analytics.userQuery`). */
export async function sql(
  { tables, takeSqlTurn }: AdminDeps,
  { body, context }: AdminRequest<SqlQuery>,
): Promise<Reply> {
  if ('problem' in body) return invalid(body.problem);
  const { query, params = {} } = body.value;
  if (isDeeper(params, PARAMS_LEVELS_MAX)) return invalid(`params must be at most ${PARAMS_LEVELS_MAX} levels deep`);
  const askedAt = performance.now();
  const { columns, rows } = await takeSqlTurn('', context.signal, () => {
    context.timing.queueMs = performance.now() - askedAt;
    return tables.read(({ userQuery }) => userQuery(query, params, { isReport: false }), context);
  });
  return ok({ columns, rows });
}

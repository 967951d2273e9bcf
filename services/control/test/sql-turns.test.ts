import { setImmediate as turn } from 'node:timers/promises';
import type { AdminDeps } from '@weir/control/control-deps';
import type { AdminRequest } from '@weir/control/http/admin-route';
import { newTiming } from '@weir/control/http/request-context';
import { createTurns } from '@weir/control/reports/report-queue';
import { SQL_AT_ONCE, sql } from '@weir/control/routes/sql-route';
import { deferred } from '@weir/testkit/eventually';

test('four SQL statements run at once, others wait, and too many get an error', async () => {
  let running = 0;
  const { promise: answered, resolve: answer } = deferred();
  const userQuery = async (query: string) => {
    running += 1;
    await answered;
    running -= 1;
    return { columns: [], rows: [{ query }] };
  };
  const deps = {
    tables: { read: (work: (tables: object) => Promise<unknown>) => work({ userQuery }) },
    takeSqlTurn: createTurns(SQL_AT_ONCE, 'SQL statements'),
  };
  const ask = (query: string) => {
    const context = { signal: new AbortController().signal, timing: newTiming() };
    return sql(deps as never as AdminDeps, { body: { value: { query } }, context } as never as AdminRequest<never>);
  };

  const queries = Array.from({ length: 4 + 192 }, (_, n) => `SELECT ${n}`);
  const replies = Promise.all(queries.map(ask));
  await turn();
  expect(running).toBe(4);
  await expect(ask('SELECT 1')).rejects.toMatchObject({
    code: 'analytics_unavailable',
    message: '192 SQL statements are waiting: send the request again later',
  });
  answer();
  expect(await replies).toEqual(queries.map((query) => ({ status: 200, data: { columns: [], rows: [{ query }] } })));
});

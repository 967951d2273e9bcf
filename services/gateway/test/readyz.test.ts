import type { IncomingMessage, ServerResponse } from 'node:http';
import type { OperationsDeps } from '@weir/gateway/gateway-deps';
import type { Replies } from '@weir/gateway/http/gateway-reply';
import { readyz } from '@weir/gateway/routes/health-route';
import { deferred } from '@weir/testkit/eventually';

test('requests that arrive during a check of the engines get its result, and a later request checks again', async () => {
  const checks: ReturnType<typeof deferred<readonly string[]>>[] = [];
  const statuses: number[] = [];
  const ready = () => {
    const check = deferred<readonly string[]>();
    checks.push(check);
    return check.promise;
  };
  const replies = { json: (_response: unknown, status: number) => void statuses.push(status) };
  const handle = readyz({ ready } as OperationsDeps, replies as never as Replies);
  const ask = () => handle({} as IncomingMessage, {} as ServerResponse);

  const asked = [ask(), ask(), ask()];
  expect(checks).toHaveLength(1);
  checks[0]?.resolve(['event log']);
  await Promise.all(asked);
  const later = ask();
  expect(checks).toHaveLength(2);
  checks[1]?.resolve([]);
  await later;
  expect(statuses).toEqual([503, 503, 503, 200]);
});

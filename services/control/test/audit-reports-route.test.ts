import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { mountAdminRoutes } from '@weir/control/http/admin-route';
import { createReportQueue, createTurns } from '@weir/control/reports/report-queue';
import { SYSTEM_ROUTES } from '@weir/control/system-routes';
import { deferred, eventually } from '@weir/testkit/eventually';
import express, { Router } from 'express';

test('reports run beside the audit of reports, and one such audit runs at once', async () => {
  let readsBegun = 0;
  const { promise: released, resolve: release } = deferred();
  const deps = {
    signIn: { callerOf: () => ({ viewer: undefined, session: undefined }) },
    reportQueue: createReportQueue(Date.now, 1),
    takeAuditTurn: createTurns(1),
    registry: { sites: () => [{ siteId: 'a' }, { siteId: 'b' }] },
    tables: {
      async read() {
        readsBegun += 1;
        await released;
        return [];
      },
    },
  };
  const report = { method: 'GET', path: '/report', role: 'admin', isReport: true, handler: () => ({ status: 200 }) };
  const audit = SYSTEM_ROUTES.filter(({ path }) => path === '/audit/reports');
  const router = Router();
  mountAdminRoutes(router, [...audit, report as never], deps as never);
  const server = express().use(router).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const call = async (path: string): Promise<number> =>
    (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`)).status;

  const audits = [call('/audit/reports'), call('/audit/reports')];
  await eventually('an audit to begin', async () => readsBegun === 1);
  expect(await call('/report')).toBe(200);
  expect(readsBegun).toBe(1);
  release();
  expect(await Promise.all(audits)).toEqual([200, 200]);
  expect(readsBegun).toBe(4);
  server.close();
});

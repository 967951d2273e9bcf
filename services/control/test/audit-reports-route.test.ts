import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { mountAdminRoutes } from '@weir/control/http/admin-route';
import { createReportQueue } from '@weir/control/reports/report-queue';
import { SYSTEM_ROUTES } from '@weir/control/system-routes';
import { eventually } from '@weir/testkit/eventually';
import express, { Router } from 'express';

test('a comparison of many sites frees its place in the report queue after each step, so that other reports can run', async () => {
  const order: string[] = [];
  let start = (): void => undefined;
  const started = new Promise<void>((resolve) => {
    start = resolve;
  });
  const compared = ['a', 'b', 'c'];
  const deps = {
    signIn: { callerOf: () => ({ viewer: undefined, session: undefined }) },
    reportQueue: createReportQueue(Date.now, 1),
    registry: { sites: () => compared.map((siteId) => ({ siteId })) },
    tables: {
      async read() {
        order.push(`comparison ${order.length}`);
        await started;
        return [];
      },
    },
  };
  let asked = 0;
  const queue: typeof deps.reportQueue = {
    ...deps.reportQueue,
    ask(question, work) {
      asked += 1;
      return deps.reportQueue.ask(question, work);
    },
  };
  const audit = SYSTEM_ROUTES.filter(({ path }) => path === '/audit/reports');
  const report = {
    method: 'GET',
    path: '/report',
    role: 'admin',
    isReport: true,
    handler() {
      order.push('report');
      return { status: 200, data: {} };
    },
  };
  const router = Router();
  mountAdminRoutes(router, [...audit, report as never], { ...deps, reportQueue: queue } as never);
  const server = express().use(router).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const audited = fetch(`${url}/audit/reports`);
  await eventually('the first comparison', async () => order.length === 1);
  const askedBefore = asked;
  const reported = fetch(`${url}/report`);
  await eventually('the report to wait', async () => asked === askedBefore + 1);
  start();
  expect((await Promise.all([audited, reported])).map(({ status }) => status)).toEqual([200, 200]);
  expect(order).toEqual(['comparison 0', 'report', 'comparison 2', 'comparison 3']);
  server.close();
});

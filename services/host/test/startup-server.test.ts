import { loadConfig } from '@weir/runtime/config/config';
import { createLogger } from '@weir/runtime/logger';
import { freePort } from '@weir/testkit/free-port';
import { sendHttp } from '@weir/testkit/http-client';
import { openStartupServer } from '../src/startup/startup-server.ts';

test('a process that waits at its start has the metric of the alert WeirRegistryUnread', async () => {
  const port = await freePort();
  const config = loadConfig({ PORT: String(port) });
  const server = await openStartupServer(config, createLogger('silent'));
  try {
    const { status, text } = await sendHttp(`http://127.0.0.1:${port}`, { path: '/metrics' });
    const [, seconds] = /^weir_registry_unread_seconds ([\d.]+)$/m.exec(text) ?? [];
    expect([status, Number(seconds) > 0]).toEqual([200, true]);
  } finally {
    await server.close();
  }
});

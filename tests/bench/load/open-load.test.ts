import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '@weir/testkit/eventually';
import { startOpenLoad } from './open-load.ts';

const REQUEST = Buffer.from('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Starts a server that answers each request with this status. */
async function startServer(status: number): Promise<{ readonly port: number; received(): number }> {
  let received = 0;
  const server = createServer((_, response) => {
    received++;
    response.writeHead(status, { 'Content-Length': 2 }).end('ok');
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, received: () => received };
}

describe.each([
  ['precise', true],
  ['with a timer', false],
])('startOpenLoad, %s', (_, precise) => {
  test('each request gets one answer and one latency', async () => {
    const { port, received } = await startServer(202);
    const made: number[] = [];
    const make = (n: number): Buffer => {
      made.push(n);
      return REQUEST;
    };
    const load = startOpenLoad({ port, perSecond: 2_000, status: 202, make, precise });
    await eventually('some answers', () => load.answered() >= 50);
    const early = load.takeLatencies();
    await load.stop();
    const late = load.takeLatencies();
    expect(load.answered()).toBe(received());
    expect(early.length + late.length).toBe(received());
    expect(made).toEqual(Array.from({ length: received() }, (_unused, n) => n));
    expect(early).toEqual(Float64Array.from(early).sort());
    expect(early[0]).toBeGreaterThan(0);
    expect(load.takeLatencies()).toHaveLength(0);
  });

  test('an unexpected status ends the load', async () => {
    const { port } = await startServer(503);
    const load = startOpenLoad({ port, perSecond: 2_000, status: 202, make: () => REQUEST, precise });
    await expect(load.failed).rejects.toThrow('unexpected answer: HTTP/1.1 503');
    await expect(load.stop()).rejects.toThrow('unexpected answer: HTTP/1.1 503');
  });
});

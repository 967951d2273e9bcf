import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionOptions, createServer as createTlsServer } from 'node:tls';
import { createLogger, type Logger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import { freePort } from '@weir/testkit/free-port';
import { describeLive } from '@weir/testkit/live-ports';
import kafkajs from 'kafkajs';
import { openingError } from '../../src/kafka/kafka-errors.ts';
import { createKafkaLink, type KafkaLink } from '../../src/kafka/kafka-link.ts';
import { type BrokerPlace, brokerPlaces } from '../../src/kafka/kafkajs-private.ts';
import { createTopics } from './create-topics.ts';
import { startKafkaProxy } from './kafka-proxy.ts';
import { makeOwnCertificate } from './own-certificate.ts';

const { Kafka, KafkaJSRequestTimeoutError, logLevel } = kafkajs;
const never = () => new Promise<void>(() => undefined);

function openLink(
  brokers: string,
  requestTimeoutMs: number,
  {
    topics = [],
    connectionTimeoutMs = 5_000,
    logger = createLogger('silent'),
    tls,
  }: {
    topics?: readonly string[];
    connectionTimeoutMs?: number;
    logger?: Logger;
    tls?: ConnectionOptions | undefined;
  } = {},
): KafkaLink {
  const address = { brokers: brokers.split(','), clientId: 'weir-test', ...(tls === undefined ? {} : { tls }) };
  const timeouts = { connectionTimeoutMs, requestTimeoutMs };
  return createKafkaLink({ address, timeouts, topics, logger });
}

test('if a broker accepts connections but does not answer, work is rejected, and closing does not wait', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  const link = openLink(`127.0.0.1:${(silent.address() as AddressInfo).port}`, 200, { connectionTimeoutMs: 200 });
  await expect(link.run(never)).rejects.toThrow();
  const underWay = link.run(never);
  await Promise.all([expect(underWay).rejects.toThrow(), link.close()]);
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => silent.close(resolve));
});

function certificateFor(names: string): { readonly key: Buffer; readonly ca: string } {
  const dir = mkdtempSync(join(tmpdir(), 'weir-kafka-link-'));
  const { keyFile, ca } = makeOwnCertificate(dir, names);
  const key = readFileSync(keyFile);
  rmSync(dir, { recursive: true });
  return { key, ca };
}

test.each([
  // The broker accepts the TLS connection but sends no answer, so the request times out.
  ['IP:127.0.0.1', 'accepted', 'event_log_unavailable'],
  ['DNS:localhost', 'refused', 'event_log_refused'],
] as const)('a broker at 127.0.0.1 with a certificate for %s is %s', async (names, _, code) => {
  const { key, ca } = certificateFor(names);
  const silent = createTlsServer({ key, cert: ca }, (socket) => void socket.on('error', () => undefined));
  await new Promise((resolve) => silent.listen(0, '127.0.0.1', () => resolve(undefined)));
  const link = openLink(`127.0.0.1:${(silent.address() as AddressInfo).port}`, 200, { tls: { ca } });
  const error = await link.run(never).catch(openingError);
  await link.close();
  await new Promise((resolve) => silent.close(resolve));
  expect(error).toMatchObject({ code });
});

describe('an abandoned connection is reset, so that the kernel sends none of its bytes later', () => {
  const ended: unknown[] = [];
  const accept = (socket: Socket): void => {
    socket.on('error', ({ code }: NodeJS.ErrnoException) => ended.push(code));
    socket.on('end', () => ended.push('closed')).resume();
  };
  const { key, ca } = certificateFor('IP:127.0.0.1');

  test.each([
    ['TCP', () => createServer(accept), undefined],
    ['TLS', () => createTlsServer({ key, cert: ca }, accept), { ca }],
  ] as const)('%s', async (_, create, tls) => {
    ended.length = 0;
    const silent = create().listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const { port } = silent.address() as AddressInfo;
    const link = openLink(`127.0.0.1:${port}`, 200, { connectionTimeoutMs: 1_000, tls });
    await expect(link.run(never)).rejects.toThrow();
    await eventually('the end of the connection', () => ended.length > 0);
    await link.close();
    expect(new Set(ended)).toEqual(new Set(['ECONNRESET']));
    await new Promise((resolve) => silent.close(resolve));
  });
});

test('a link that is closed while it connects does not try the next broker', async () => {
  const accepted: Socket[][] = [[], []];
  const silent = await Promise.all(
    accepted.map(async (sockets) => {
      const server = createServer((socket) => {
        sockets.push(socket.on('error', () => undefined));
      }).listen(0, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
      return server;
    }),
  );
  const list = silent.map((server) => `127.0.0.1:${(server.address() as AddressInfo).port}`).join(',');
  const logger = createLogger('silent');
  let failures = 0;
  logger.debug = (_: object, message?: string) => {
    if (message === 'closing a connection to Kafka failed') failures += 1;
  };
  const link = openLink(list, 5_000, { logger });
  const work = link.run(never);
  await eventually('a connection to the first broker', () => accepted[0]?.length === 1);
  await Promise.all([expect(work).rejects.toThrow(), link.close()]);
  // Closing the connection logs a line when the attempt to connect has ended.
  await eventually('the end of the attempt to connect', () => failures === 1);
  const tried = accepted.map((sockets) => sockets.length);
  for (const socket of accepted.flat()) socket.destroy();
  await Promise.all(silent.map((server) => new Promise((resolve) => server.close(resolve))));
  expect(tried).toEqual([1, 0]);
});

describeLive('kafka', (brokers) => {
  test('work that goes on after the link was closed gets no new connection', async () => {
    const link = openLink(brokers(), 10_000);
    const cluster = await link.run(async (connected) => connected);
    await link.close();
    const result = await eventually('a result', async () => {
      const found = await cluster.refreshMetadata().then(
        () => 'connected',
        (error: Error) => error.message,
      );
      // Other errors come from the closed connection, so the test tries again.
      return /^connected$|abandoned/.test(found) && found;
    });
    await cluster.disconnect();
    expect(result).toContain('abandoned');
  });

  test.each([
    ['closes its connections, as a proxy in front of a dead broker does', (socket: Socket) => void socket.destroy()],
    ['does not answer', () => undefined],
  ])('if the first broker accepts connections and %s, the next one is used', async (_, accept) => {
    const sockets: Socket[] = [];
    const useless = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      accept(socket);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => useless.once('listening', resolve));
    const link = openLink(`127.0.0.1:${(useless.address() as AddressInfo).port},${brokers()}`, 2_000);
    expect(await link.run(async (cluster) => cluster.getNodeIds().length, 60_000)).toBeGreaterThan(0);
    await link.close();
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => useless.close(resolve));
  });

  test('when one operation loses the connections, all operations on them end, and the next one reconnects', async () => {
    const link = openLink(brokers(), 60_000);
    await link.run(async (cluster) => cluster.refreshMetadata());
    const underWay = link.run(never);
    const failed = link.run(() => Promise.reject(new Error('the transport broke')));
    await expect(failed).rejects.toThrow('the transport broke');
    await expect(underWay).rejects.toThrow('abandoned');
    expect(await link.run(async () => 'connected')).toBe('connected');
    await link.close();
  });

  test('after a broker did not answer, the next connection goes to another one', async () => {
    const proxy = await startKafkaProxy(brokers());
    const address = `127.0.0.1:${proxy.port}`;
    const link = openLink(`${address},${brokers()}`, 10_000);
    await link.run(async () => undefined, 60_000);
    const before = proxy.accepted();
    const times = { broker: address, clientId: '', correlationId: 0, createdAt: 0, sentAt: 0, pendingDuration: 0 };
    const failed = link.run(() => Promise.reject(new KafkaJSRequestTimeoutError('no answer', times)));
    await expect(failed).rejects.toThrow('no answer');
    await link.run(async () => undefined, 60_000);
    await link.close();
    await proxy.close();
    expect([before, proxy.accepted()]).toEqual([1, 1]);
  });

  test('work at the present address of a broker goes on while the former address is tried', async () => {
    const link = openLink(brokers(), 10_000);
    const place = await link.run(async (cluster) => brokerPlaces(cluster)[0] as BrokerPlace);
    let finish: (result: string) => void = () => undefined;
    const underWay = link.runOn(place, () => new Promise<string>((resolve) => (finish = resolve)));
    await link.runOn(place, async () => undefined);
    const former = link.runOn({ ...place, port: await freePort() }, async () => undefined);
    await expect(former).rejects.toThrow('ECONNREFUSED');
    finish('done');
    expect(await underWay).toBe('done');
    await link.close();
  });

  test('idle connections to an address that is no longer in the metadata are closed', async () => {
    const proxy = await startKafkaProxy(brokers());
    const link = openLink(brokers(), 10_000);
    const place = await link.run(async (cluster) => brokerPlaces(cluster)[0] as BrokerPlace);
    await link.runOn({ ...place, port: proxy.port }, async () => undefined);
    expect(proxy.open()).toBe(1);
    await eventually('the end of the connection', () => {
      link.refreshLeaders();
      return proxy.open() === 0;
    });
    await link.close();
    await proxy.close();
  });

  test('new metadata are requested once while a request is in progress', async () => {
    const link = openLink(brokers(), 10_000);
    let asked = 0;
    await link.run(async (cluster) => {
      cluster.refreshMetadata = async () => {
        asked += 1;
      };
    });
    for (let i = 0; i < 10; i++) link.refreshLeaders();
    await eventually('a request', () => asked > 0);
    await link.close();
    expect(asked).toBe(1);
  });

  test('metadata that are older than a minute are requested again when the leaders are asked for', async () => {
    const link = openLink(brokers(), 10_000);
    const clock = performance.now;
    let laterMs = 0;
    performance.now = () => clock.call(performance) + laterMs;
    try {
      await link.leaders();
      let asked = 0;
      await link.run(async (cluster) => {
        cluster.refreshMetadata = async () => {
          asked += 1;
        };
      });
      await link.leaders();
      expect(asked).toBe(0);
      laterMs = 61_000;
      await link.leaders();
      await eventually('a request', () => asked > 0);
    } finally {
      performance.now = clock;
      await link.close();
    }
  });

  test('work that was abandoned before the connection opened is not started', async () => {
    const link = openLink(brokers(), 10_000);
    let begun = false;
    const work = link.run(async () => {
      begun = true;
    }, -60_000);
    await expect(work).rejects.toThrow('abandoned');
    // The work above was waiting for the connection. When this call resolves, the connection is open, so the work above would have begun before.
    await link.run(async (cluster) => cluster.refreshMetadata());
    expect(begun).toBe(false);
    await link.close();
  });

  test('work that never ends is rejected', async () => {
    const link = openLink(brokers(), 1_000, { connectionTimeoutMs: 500 });
    // Connects first, so that only the work below can cause the timeout, and not a slow connection to a busy broker.
    await eventually('connected', () => link.run(async () => true));
    await expect(link.run(never)).rejects.toThrow('abandoned');
    await link.close();
    await expect(link.run(never)).rejects.toThrow('closed');
  });

  test('a request that the broker refuses during connecting is retried', async () => {
    const topic = `test-${randomUUID()}`;
    const link = openLink(brokers(), 10_000, { topics: [topic] });
    const partitions = () => link.run(async (cluster) => cluster.findTopicPartitionMetadata(topic).length);
    await expect(partitions()).rejects.toMatchObject({ type: 'UNKNOWN_TOPIC_OR_PARTITION' });
    const admin = new Kafka({ brokers: brokers().split(','), logLevel: logLevel.NOTHING }).admin();
    await admin.connect();
    await createTopics(admin, [{ topic, numPartitions: 2 }]);
    await admin.disconnect();
    expect(await eventually('the topic', partitions)).toBe(2);
    await link.close();
  });
});

import { randomUUID } from 'node:crypto';
import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import { describeLive } from '@weir/testkit/live-ports';
import { createKafkaFetcher, type FetchSource } from '../../src/kafka/consume/kafka-fetcher.ts';
import { createKafkaLink } from '../../src/kafka/kafka-link.ts';
import { openKafkaFixtureLog } from './kafka-fixture-log.ts';
import { startKafkaProxy } from './kafka-proxy.ts';

const logger = createLogger('silent');

describeLive('kafka', (brokers) => {
  /** Opens a log with one unread record, and a fetcher without sources. So the fetcher sends requests only for the source that a test adds. */
  async function openFetcher(list = brokers()) {
    const prefix = `test-${randomUUID().slice(0, 8)}.`;
    const log = await openKafkaFixtureLog(brokers(), prefix, 1);
    await log.append('topic.0', [{ partition: 0, value: Buffer.from('x') }]);
    const topic = `${prefix}topic.0`;
    const link = createKafkaLink({
      address: { brokers: list.split(','), clientId: 'weir-test' },
      timeouts: { connectionTimeoutMs: 1000, requestTimeoutMs: 5000 },
      topics: [topic],
      logger,
    });
    const fetcher = createKafkaFetcher(link, logger);
    return {
      fetcher,
      topic,
      link,
      async close() {
        fetcher.close();
        await Promise.all([log.close(), link.close()]);
      },
    };
  }

  test('a source that requests records while the fetcher polls it is not missed', async () => {
    const { fetcher, topic, link, close } = await openFetcher();
    // Connects first. So only microtasks run between `add` and the first request. Each round of the loop calls `wake` one microtask later than the
    // previous round, so that `wake` is tested at each point between `add` and the request.
    await link.run(async (cluster) => cluster.refreshMetadata());
    for (let ticks = 0; ticks < 20; ticks++) {
      let wantsRecords = false;
      let found = 0;
      const source: FetchSource = {
        topic,
        partition: 0,
        fetchBytesMax: 1024,
        wanted: () => (wantsRecords ? 0 : undefined),
        deliver(_, messages) {
          found += messages.length;
          wantsRecords = false;
        },
        outOfRange: () => undefined,
        onError: () => undefined,
      };
      fetcher.add(source);
      for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
      wantsRecords = true;
      fetcher.wake();
      await eventually(`found after ${ticks} ticks`, () => found > 0);
      fetcher.remove(source);
    }
    await close();
  });

  test('records are read while the connections for metadata cannot be opened', async () => {
    const proxy = await startKafkaProxy(brokers());
    // Metadata requests use the proxy. Fetches use the address of the broker in the metadata, so they do not use the proxy.
    const { fetcher, topic, link, close } = await openFetcher(`127.0.0.1:${proxy.port}`);
    await link.leaders();
    const closed = proxy.close();
    await expect(link.run(() => Promise.reject(new Error('it broke')))).rejects.toThrow('it broke');
    await expect(link.run(async () => undefined)).rejects.toThrow('ECONNREFUSED');
    let found = 0;
    fetcher.add({
      topic,
      partition: 0,
      fetchBytesMax: 1024,
      wanted: () => (found === 0 ? 0 : undefined),
      deliver: (_, messages) => {
        found += messages.length;
      },
      outOfRange: () => undefined,
      onError: () => undefined,
    });
    await eventually('a record', () => found > 0);
    await close();
    await closed;
  });
});

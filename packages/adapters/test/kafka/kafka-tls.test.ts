import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import { freePort } from '@weir/testkit/free-port';
import { localProblem } from '@weir/testkit/live-local';
import { createKafkaLink } from '../../src/kafka/kafka-link.ts';
import { type AdminBroker, type BrokerPlace, brokerPlaces, hasConnection } from '../../src/kafka/kafkajs-private.ts';
import { openKafkaFixtureLog } from './kafka-fixture-log.ts';
import { type SecureKafka, startSecureKafka, USER } from './secure-kafka.ts';

const problem = localProblem('kafka');
(problem === undefined ? describe : describe.skip)(
  `Kafka behind TLS and SASL${problem === undefined ? '' : `: ${problem}`}`,
  () => {
    let kafka: SecureKafka;
    beforeAll(async () => {
      kafka = await startSecureKafka();
      const first = () => open({ mechanism: 'plain', ...USER });
      await (await eventually('the broker', first, 150_000)).close();
    });
    afterAll(() => kafka?.stop());

    type Sasl = { readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'; username: string; password: string };
    const open = (sasl: Sasl, ca: string | undefined = kafka.ca) =>
      openKafkaFixtureLog(kafka.broker, 'tls.', 1, { tls: ca === '' ? true : { ca }, sasl });

    test.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)(
      '%s: appends, consumes, commits',
      async (mechanism) => {
        const log = await open({ mechanism, ...USER });
        const [outcome] = await log.append('topic.0', [{ partition: 0, value: Buffer.from(mechanism) }]);
        expect(outcome).toMatchObject({ status: 'stored' });
        const read: string[] = [];
        const subscription = await log.consume({
          topic: 'topic.0',
          group: mechanism,
          onError: () => undefined,
          open: async ({ commit }) => ({
            async handle(records) {
              read.push(...records.map(({ value }) => Buffer.from(value).toString()));
              await commit({ offset: (records.at(-1)?.offset ?? 0) + 1, metadata: 'm' });
            },
            close: async () => undefined,
          }),
        });
        await eventually('it is read', () => read.includes(mechanism));
        const committed = async () => (await log.positions('topic.0', mechanism))[0];
        await eventually('it is committed', async () => (await committed())?.committed === (await committed())?.end);
        await subscription.close();
        await log.close();
      },
    );

    test('before its session ends, a process authenticates again over the same connection, and work on it goes on', async () => {
      const link = createKafkaLink({
        address: {
          brokers: [kafka.broker],
          clientId: 'weir-test',
          tls: { ca: kafka.ca },
          sasl: { mechanism: 'plain', ...USER },
        },
        timeouts: { connectionTimeoutMs: 10_000, requestTimeoutMs: 60_000 },
        topics: [],
        logger: createLogger('silent'),
      });
      const place = await link.run(async (cluster) => brokerPlaces(cluster)[0] as BrokerPlace);
      const broker = await link.runOn(place, async (one) => one);
      let finish: (result: string) => void = () => undefined;
      const underWay = link.runOn(place, () => new Promise<string>((resolve) => (finish = resolve)));
      await eventually('the session ends soon', () => !broker.isConnected());
      const topics = [{ topic: 'tls.topic.0', partitions: [{ partition: 0, timestamp: '-1' }] }];
      const requests = [1, 2, 3].map(() =>
        link.runOn(place, async (one) => {
          await (one as AdminBroker).listOffsets({ topics });
          return one === broker && hasConnection(one);
        }),
      );
      expect(await Promise.all(requests)).toEqual([true, true, true]);
      finish('done');
      expect(await underWay).toBe('done');
      await link.close();
    });

    test.each([
      ['a wrong password', () => open({ mechanism: 'scram-sha-256', ...USER, password: 'wrong' })],
      ['an unknown user', () => open({ mechanism: 'plain', username: 'unknown', password: 'x' })],
      ['an untrusted certificate', () => open({ mechanism: 'plain', ...USER }, '')],
    ])('%s is refused when the log is opened', async (_, opening) => {
      await expect(opening()).rejects.toMatchObject({ code: 'event_log_refused' });
    });

    test.each(['first', 'last'])(
      'a wrong password is refused although another broker is down, which is the %s of the list',
      async (place) => {
        const down = `127.0.0.1:${await freePort()}`;
        const list = place === 'first' ? `${down},${kafka.broker}` : `${kafka.broker},${down}`;
        const sasl = { mechanism: 'plain', ...USER, password: 'wrong' } as const;
        const opening = openKafkaFixtureLog(list, 'tls.', 1, { tls: { ca: kafka.ca }, sasl });
        await expect(opening).rejects.toMatchObject({ code: 'event_log_refused' });
      },
    );
  },
);

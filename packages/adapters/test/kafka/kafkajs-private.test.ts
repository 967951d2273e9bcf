import { createLogger } from '@weir/runtime/logger';
import { createKafka, FAIL_FAST } from '../../src/kafka/kafka-client.ts';
import {
  brokerPlaces,
  controllerPlace,
  createBroker,
  createCluster,
  findCoordinator,
  hasConnection,
  metadataOf,
  supportsVersion,
} from '../../src/kafka/kafkajs-private.ts';

const PLACE = { nodeId: 2, host: 'broker', port: 9092 };
const version = (): string => (require('kafkajs/package.json') as { readonly version: string }).version;
const methodsOf = (module: string): readonly string[] =>
  Object.getOwnPropertyNames((require(module) as { readonly prototype: object }).prototype);

// The members that this suite names are not part of kafkajs's published types. If this suite fails after an upgrade of kafkajs, read the code of the
// new version before you change the expected names.
describe('private members of kafkajs that Weir uses', () => {
  test('the version of kafkajs is the one whose code was checked', () => {
    expect(version()).toBe('2.2.4');
  });

  test('the cluster that a partition assigner receives creates its brokers with brokerPool.createBroker', () => {
    const kafka = createKafka({ brokers: ['127.0.0.1:1'], clientId: 'test' }, FAIL_FAST, createLogger('silent'));
    const cluster = createCluster(kafka, { mayLackTopics: false });
    expect(methodsOf('kafkajs/src/cluster')).toEqual(
      expect.arrayContaining([
        'connect',
        'disconnect',
        'refreshMetadata',
        'addMultipleTargetTopics',
        'findBroker',
        'findControllerBroker',
        'findTopicPartitionMetadata',
        'getNodeIds',
      ]),
    );
    const { brokerPool } = cluster as unknown as { readonly brokerPool: { createBroker(options: object): object } };
    const broker = brokerPool.createBroker({ logger: { namespace: () => ({}) }, nodeId: 1, connectionPool: {} });
    expect(Object.keys(broker)).toEqual(expect.arrayContaining(['connectionPool', 'metadata']));
    const poolMethods = methodsOf('kafkajs/src/cluster/brokerPool');
    expect(poolMethods).toEqual(expect.arrayContaining(['findBroker', 'findConnectedBroker']));
    expect(Object.keys(brokerPool)).toContain('brokers');
    expect(brokerPlaces(cluster)).toEqual([]);
    Object.assign(brokerPool, { metadata: { brokers: [PLACE], controllerId: 2 } });
    expect(brokerPlaces(cluster)).toEqual([PLACE]);
    expect(controllerPlace(cluster)).toEqual(PLACE);
    expect(metadataOf(cluster)).toEqual({ brokers: [PLACE], controllerId: 2 });
  });

  test('a broker that Weir creates has its own connections to the given address', async () => {
    const kafka = createKafka({ brokers: ['127.0.0.1:1'], clientId: 'test' }, FAIL_FAST, createLogger('silent'));
    const broker = await createBroker(kafka, PLACE);
    expect(broker).toMatchObject({ nodeId: 2, connectionPool: { host: 'broker', port: 9092 } });
    expect([broker.isConnected(), hasConnection(broker)]).toEqual([false, false]);
  });

  test('a connection has a timer only while a request waits', async () => {
    const kafka = createKafka({ brokers: ['127.0.0.1:1'], clientId: 'test' }, FAIL_FAST, createLogger('silent'));
    const { connectionPool } = (await createBroker(kafka, PLACE)) as unknown as { connectionPool: { pool: Pooled[] } };
    interface Pooled {
      readonly requestQueue: {
        readonly throttleCheckTimeoutId: object | null;
        fulfillRequest(answer: object): void;
        maybeThrottle(ms: number): void;
        push(request: object): void;
        destroy(): void;
      };
    }
    for (const { requestQueue: queue } of connectionPool.pool) {
      queue.fulfillRequest({ correlationId: 1, payload: null, size: 0 });
      expect(queue.throttleCheckTimeoutId === null).toBe(true);
      queue.maybeThrottle(1);
      await new Promise<void>((sendRequest) => {
        queue.push({ entry: { correlationId: 2 }, expectResponse: true, requestTimeout: null, sendRequest });
      });
      expect(queue.throttleCheckTimeoutId === null).toBe(true);
      queue.destroy();
    }
    expect(connectionPool.pool).toHaveLength(2);
  });

  test.each([
    ['', true],
    [', also if the session of SASL is about to end', false],
  ])('the coordinator of a group is found while another broker cannot be reached%s', async (_, authenticated) => {
    const kafka = createKafka({ brokers: ['127.0.0.1:1'], clientId: 'test' }, FAIL_FAST, createLogger('silent'));
    const cluster = createCluster(kafka, { mayLackTopics: false });
    const connected = {
      connectionPool: { isConnected: () => true },
      isConnected: () => authenticated,
      connect: async () => undefined,
      findGroupCoordinator: async () => ({ coordinator: { ...PLACE, nodeId: 1 } }),
    };
    let tried = 0;
    const unreachable = {
      connectionPool: { isConnected: () => false },
      isConnected: () => false,
      async connect() {
        tried += 1;
        throw new Error('unreachable');
      },
    };
    Object.assign((cluster as unknown as { brokerPool: object }).brokerPool, {
      brokers: { 1: connected, 2: unreachable },
    });
    // The test calls many times, because kafkajs itself would ask a random broker each time.
    for (let turn = 0; turn < 20; turn++) expect(await findCoordinator(cluster, 'group')).toBe(connected);
    expect(tried).toBe(0);
  });

  test('a broker has the requests that Weir sends', () => {
    expect(methodsOf('kafkajs/src/broker')).toEqual(
      expect.arrayContaining([
        'createTopics',
        'deleteRecords',
        'describeConfigs',
        'fetch',
        'findGroupCoordinator',
        'heartbeat',
        'joinGroup',
        'leaveGroup',
        'listOffsets',
        'metadata',
        'offsetCommit',
        'offsetFetch',
        'produce',
        'syncGroup',
      ]),
    );
  });

  test('a broker knows the versions of the requests that it supports', () => {
    const Broker = require('kafkajs/src/broker') as new (options: object) => object;
    const options = { connectionPool: {}, logger: { namespace: () => ({}) }, versions: { 3: { maxVersion: 12 } } };
    const broker = new Broker(options) as Parameters<typeof supportsVersion>[0];
    expect([10, 12, 13].map((version) => supportsVersion(broker, 3, version))).toEqual([true, true, false]);
    expect(supportsVersion(broker, 999, 1)).toBe(false);
  });

  test('a connection pool sends requests with an encoder and parses responses with a parser', () => {
    expect(methodsOf('kafkajs/src/network/connectionPool')).toEqual(expect.arrayContaining(['send']));
    const produce = require('kafkajs/src/protocol/requests/produce/v7/request') as (options: object) => object;
    expect(Object.keys(produce({ topicData: [] }))).toEqual(expect.arrayContaining(['apiKey', 'encode']));
    const response = require('kafkajs/src/protocol/requests/produce/v7/response') as object;
    expect(Object.keys(response)).toEqual(expect.arrayContaining(['decode', 'parse']));
  });
});

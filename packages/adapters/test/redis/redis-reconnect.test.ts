import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import { localProblem } from '@weir/testkit/live-local';
import { connectRedis, type RedisConnection } from '../../src/redis/redis-connection.ts';
import { startFakeSentinel } from './fake-sentinel.ts';
import { type OwnRedis, startOwnRedis } from './own-redis.ts';

const problem = localProblem('redis');
const describeLocal = problem === undefined ? describe : describe.skip;

describeLocal(`Redis: a client that ioredis has given up${problem === undefined ? '' : `: ${problem}`}`, () => {
  let server: OwnRedis;
  let node: OwnRedis;
  const connections: RedisConnection[] = [];

  async function connect(url: string, commandTimeoutMs = 10_000): Promise<RedisConnection> {
    const connection = connectRedis({ url, commandTimeoutMs, clock: Date.now, logger: createLogger('silent') });
    connections.push(connection);
    await answers(connection);
    return connection;
  }
  const answers = ({ client }: RedisConnection) =>
    eventually('the client answers', async () => (await client.ping()) === 'PONG');

  beforeAll(async () => {
    server = await startOwnRedis([]);
    const cluster = ['--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf'];
    node = await startOwnRedis([...cluster, '--cluster-announce-ip', '127.0.0.1']);
    await node.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await eventually('the cluster is complete', async () =>
      String(await node.call('CLUSTER', 'INFO')).includes('cluster_state:ok'),
    );
  });
  afterEach(() => {
    for (const { close } of connections.splice(0)) close();
  });
  afterAll(async () => {
    await Promise.all([server.stop(), node.stop()]);
  });

  test('Sentinel announces a new master while the client asks for the master', async () => {
    const sentinel = await startFakeSentinel(server.port);
    const connection = await connect(`redis+sentinel://127.0.0.1:${sentinel.port}/main`);
    sentinel.holdAnswers();
    await server.call('CLIENT', 'KILL', 'TYPE', 'normal');
    await sentinel.asked();
    const ended = new Promise<void>((resolve) => connection.client.once('end', resolve));
    await sentinel.announceMaster();
    sentinel.releaseAnswers();
    await ended;
    await answers(connection);
    sentinel.stop();
  });

  test('the first Sentinel hangs', async () => {
    const [hanging, sentinel] = [await startFakeSentinel(server.port), await startFakeSentinel(server.port)];
    hanging.holdAnswers();
    await connect(`redis+sentinel://127.0.0.1:${hanging.port},127.0.0.1:${sentinel.port}/main`, 2_000);
    for (const one of [hanging, sentinel]) one.stop();
  });

  test('a script finds that the server has become a replica: also with the error of Redis 6', async () => {
    const { client } = await connect(`redis://127.0.0.1:${server.port}`);
    let ended = false;
    client.once('close', () => {
      ended = true;
    });
    const error =
      "ERR Error running script (call to f_0f): @user_script:8: @user_script: 8: -READONLY You can't write against a read only replica.";
    await expect(client.eval('return redis.error_reply(ARGV[1])', 0, error)).rejects.toThrow('READONLY');
    await eventually('the client has ended the connection', () => ended);
  });

  test('the last connection to a Cluster ends while the client resolves host names', async () => {
    const connection = await connect(`redis+cluster://127.0.0.1:${node.port}`);
    const { client } = connection;
    client.once('connecting', () => {
      // Simulates that the last connection ends at this moment. When it ends, the connection pool of ioredis (a private field) emits `drain`.
      (client as unknown as { connectionPool: NodeJS.EventEmitter }).connectionPool.emit('drain');
    });
    await node.call('CLIENT', 'KILL', 'TYPE', 'normal');
    await eventually('the client has lost the connection', () => client.status !== 'ready');
    await answers(connection);
  });

  test.each([
    ['one server', () => `redis://127.0.0.1:${server.port}`],
    ['a Cluster', () => `redis+cluster://127.0.0.1:${node.port}`],
  ])('%s: a client reconnects until it is closed', async (_, url) => {
    // The connection of `closed` ends before that of `open`. If `close` did not stop the retries, `closed` would therefore reconnect before `open`,
    // and be connected when `open` answers again.
    const [closed, open] = [await connect(url()), await connect(url())];
    for (const { client } of [closed, open]) {
      client.disconnect();
      await eventually('the client has ended', () => client.status === 'end');
    }
    closed.close();
    await answers(open);
    expect(closed.client.status).toBe('end');
  });
});

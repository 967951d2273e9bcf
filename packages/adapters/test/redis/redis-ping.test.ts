import { eventually } from '@weir/testkit/eventually';
import { localProblem } from '@weir/testkit/live-local';
import type { RedisStateStore } from '../../src/redis/redis-state-store.ts';
import { type OwnRedis, startOwnRedis } from './own-redis.ts';
import { openConnectedStore } from './redis-store-fixture.ts';

const problem = localProblem('redis');
const describeLocal = problem === undefined ? describe : describe.skip;

describeLocal(
  `Redis: \`ping\` while the server cannot be written${problem === undefined ? '' : `: ${problem}`}`,
  () => {
    let server: OwnRedis;
    let store: RedisStateStore;

    beforeAll(async () => {
      server = await startOwnRedis([]);
      store = await openConnectedStore({ url: `redis://127.0.0.1:${server.port}` }, 'test:');
    });
    afterAll(async () => {
      await store.close();
      await server.stop();
    });

    test.each([
      ['has no memory left', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
      ['is a replica', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
    ] as const)('a server that %s', async (_name, [command, ...args], [repair, ...given]) => {
      await store.ping();
      await server.call(command, ...args);
      await expect(store.ping()).rejects.toMatchObject({ code: 'state_store_unavailable' });
      await server.call(repair, ...given);
      await eventually('the server can be written', () => store.ping().then(() => true));
    });
  },
);

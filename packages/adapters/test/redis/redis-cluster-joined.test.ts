import { eventually } from '@weir/testkit/eventually';
import { localProblem } from '@weir/testkit/live-local';
import { type OwnRedis, startOwnRedis } from './own-redis.ts';
import { openConnectedStore } from './redis-store-fixture.ts';

const problem = localProblem('redis');
const describeLocal = problem === undefined ? describe : describe.skip;
const CLUSTER = [
  ...['--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf'],
  ...['--cluster-announce-ip', '127.0.0.1'],
];

describeLocal(`Redis Cluster: a master that joins${problem === undefined ? '' : `: ${problem}`}`, () => {
  const nodes: OwnRedis[] = [];
  beforeAll(async () => {
    for (let nth = 0; nth < 2; nth++) nodes.push(await startOwnRedis(CLUSTER));
  });
  afterAll(async () => {
    for (const node of nodes) await node.stop();
  });

  test('its keys are removed, although no command of this client was redirected to it', async () => {
    const [first, second] = nodes as [OwnRedis, OwnRedis];
    await first.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await eventually('the cluster is complete', async () =>
      String(await first.call('CLUSTER', 'INFO')).includes('cluster_state:ok'),
    );
    const store = await openConnectedStore({ url: `redis+cluster://127.0.0.1:${first.port}` }, 'joined:');

    await first.call('CLUSTER', 'MEET', '127.0.0.1', `${second.port}`, `${second.busPort}`);
    await eventually('the servers know each other', async () =>
      (await Promise.all(nodes.map((node) => node.call('CLUSTER', 'NODES')))).every(
        (list) => String(list).split('connected').length === 3 && !String(list).includes('handshake'),
      ),
    );
    const slot = String(await first.call('CLUSTER', 'KEYSLOT', 'joined:key'));
    const id = String(await second.call('CLUSTER', 'MYID'));
    for (const node of [second, first]) await node.call('CLUSTER', 'SETSLOT', slot, 'NODE', id);
    await eventually('the cluster has two masters', async () =>
      (await Promise.all(nodes.map((node) => node.call('CLUSTER', 'INFO')))).every(
        (info) => String(info).includes('cluster_size:2') && String(info).includes('cluster_state:ok'),
      ),
    );
    await second.call('SET', 'joined:key', 'value');

    await store.removeAll();
    expect(await second.call('DBSIZE')).toBe(0);
    await store.close();
  });
});

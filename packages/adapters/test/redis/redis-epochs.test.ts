import { eventually } from '@weir/testkit/eventually';
import { localProblem } from '@weir/testkit/live-local';
import { type OwnRedis, startOwnRedis } from './own-redis.ts';
import { openConnectedStore } from './redis-store-fixture.ts';

const problem = localProblem('redis');
const describeLocal = problem === undefined ? describe : describe.skip;
const WINDOW_MS = 24 * 3600_000;

describeLocal(`epochs of the state in Redis${problem === undefined ? '' : `: ${problem}`}`, () => {
  let servers: OwnRedis[] = [];
  const start = async (...args: readonly string[]): Promise<OwnRedis> => {
    const server = await startOwnRedis(args);
    servers.push(server);
    return server;
  };
  const storeOf = ({ port }: OwnRedis) => openConnectedStore({ url: `redis://127.0.0.1:${port}` }, 'epochs:');
  const holder = { siteId: 's', key: 'k', recordId: '0:1', receivedAt: 1_000 };
  const partition = { logId: 'l', partition: 0 };
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    servers = [];
  });

  test('FLUSHALL ends an epoch: it accepts no first-seen keys and no state', async () => {
    const server = await start();
    const store = await storeOf(server);
    const { id } = await store.readEpoch('l', 1);
    expect(await store.insertFirstSeen(id, [holder], WINDOW_MS)).toEqual([holder]);
    expect(await store.writeState(id, partition, { from: 0, to: 5 }, [])).toBe(5);
    expect(await store.checkIn(id, partition)).toBe(true);
    await server.call('FLUSHALL');
    expect(await store.insertFirstSeen(id, [holder], WINDOW_MS)).toBeUndefined();
    expect(await store.overwriteFirstSeen(id, [holder], WINDOW_MS)).toBe(false);
    expect(await store.writeState(id, partition, { from: 0, to: 5 }, [])).toBeUndefined();
    expect(await store.checkIn(id, partition)).toBe(false);
    const next = await store.readEpoch('l', 1);
    expect(next.id).not.toBe(id);
    expect([...next.checkedIn]).toEqual([]);
    await store.close();
  });

  test('a promoted replica begins a new epoch, and so does a server that has copied the content of another server', async () => {
    const master = await start();
    const replica = await start('--replicaof', '127.0.0.1', `${master.port}`);
    const store = await storeOf(master);
    const { id } = await store.readEpoch('l', 1);
    await store.writeState(id, partition, { from: 0, to: 5 }, []);
    await eventually('the replica has a copy', async () => (await replica.call('DBSIZE')) === 2);
    await replica.call('REPLICAOF', 'NO', 'ONE');
    const promoted = await storeOf(replica);
    expect(await promoted.insertFirstSeen(id, [holder], WINDOW_MS)).toBeUndefined();
    expect((await promoted.readEpoch('l', 1)).id).not.toBe(id);
    // The new epoch continues with the partition state of the replica.
    expect((await promoted.readState('any', partition, [])).appliedTo).toBe(5);

    await master.call('REPLICAOF', '127.0.0.1', `${replica.port}`);
    await eventually('the master has copied the content of the replica', async () =>
      String(await master.call('INFO', 'replication')).includes('master_link_status:up'),
    );
    await master.call('REPLICAOF', 'NO', 'ONE');
    const again = await storeOf(master);
    expect(await again.insertFirstSeen(id, [holder], WINDOW_MS)).toBeUndefined();
    await Promise.all([store, promoted, again].map((one) => one.close()));
  });
});

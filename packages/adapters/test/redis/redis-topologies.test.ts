import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import { localProblem } from '@weir/testkit/live-local';
import { rateLimiterContract } from '../../../ports/contract/rate-limiter.contract.ts';
import { stateStoreContract } from '../../../ports/contract/state-store.contract.ts';
import { COMMAND_TIMEOUT_MS } from '../../src/redis/redis-connection.ts';
import { openRedisStateStore } from '../../src/redis/redis-state-store.ts';
import { makeOwnCertificate } from '../kafka/own-certificate.ts';
import { type OwnRedis, startOwnRedis } from './own-redis.ts';
import {
  openConnectedLimiter,
  openConnectedStore,
  openRedisStoreFixture,
  withDefaults,
} from './redis-store-fixture.ts';

const problem = localProblem('redis');
const describeLocal = problem === undefined ? describe : describe.skip;
const SLOTS_MAX = '16383';
const CLUSTER = ['--cluster-enabled', 'yes', '--cluster-config-file', 'nodes.conf'];
/** A number of calls that is large enough for several attempts to connect during these calls. */
const CALLS = 2_000;

describeLocal(`Redis with TLS, Cluster and Sentinel${problem === undefined ? '' : `: ${problem}`}`, () => {
  const dir = mkdtempSync(join(tmpdir(), 'weir-redis-tls-'));
  let servers: OwnRedis[] = [];
  const start = async (...given: Parameters<typeof startOwnRedis>): Promise<OwnRedis> => {
    const server = await startOwnRedis(...given);
    servers.push(server);
    return server;
  };
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  describe('TLS with a user and a password', () => {
    const place = { url: '', tls: {} };
    beforeAll(async () => {
      const { certFile, keyFile, ca } = makeOwnCertificate(dir);
      const tls = ['--tls-cert-file', certFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', certFile];
      const server = await start([...tls, '--tls-auth-clients', 'no'], { tls: { ca } });
      await server.call('ACL', 'SETUSER', 'weir', 'on', '>p:w/d', '~*', '+@all');
      Object.assign(place, { url: `rediss://weir:p%3Aw%2Fd@127.0.0.1:${server.port}/1`, tls: { ca } });
    });

    stateStoreContract('the Redis state store behind TLS', () => openRedisStoreFixture(place));
    rateLimiterContract('Redis behind TLS', () => openConnectedLimiter(place));

    test('an untrusted certificate is refused, and every call rejects with state_store_unavailable', async () => {
      const store = await openRedisStateStore({ url: place.url, clock: Date.now, logger: createLogger('silent') });
      for (let n = 0; n < CALLS; n++) {
        await expect(store.ping()).rejects.toMatchObject({ code: 'state_store_unavailable' });
        await new Promise((resolve) => setImmediate(resolve));
      }
      await store.close();
    });
  });

  describe('Cluster with three servers', () => {
    const place = { url: '' };
    let nodes: readonly OwnRedis[] = [];
    beforeAll(async () => {
      nodes = await Promise.all([1, 2, 3].map(() => start(CLUSTER)));
      const ranges = [
        ['0', '5460'],
        ['5461', '10922'],
        ['10923', SLOTS_MAX],
      ] as const;
      for (const [index, node] of nodes.entries()) {
        await node.call('CLUSTER', 'ADDSLOTSRANGE', ...(ranges[index] ?? []));
      }
      await eventually('the cluster is complete', async () => {
        const infos = await Promise.all(nodes.map((node) => node.call('CLUSTER', 'INFO')));
        if (infos.every((info) => String(info).includes('cluster_state:ok'))) return true;
        // Again in each attempt, because a server forgets a new server that does not answer in time.
        for (const { port, busPort } of nodes.slice(1)) {
          await nodes[0]?.call('CLUSTER', 'MEET', '127.0.0.1', `${port}`, `${busPort}`);
        }
        return false;
      });
      place.url = `redis+cluster://${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}`;
    });

    stateStoreContract('the Redis state store on a Cluster', () => openRedisStoreFixture(place));
    rateLimiterContract('Redis Cluster', () => openConnectedLimiter(place));

    test('keys are also removed from the state of former epochs', async () => {
      const store = await openConnectedStore(place, 'former:');
      const partition = { logId: 'l', partition: 0 };
      const former: string[] = [];
      for (let nth = 0; nth < 2; nth++) {
        const { id } = await store.readEpoch('l', 1);
        const changes = ['erased', 'kept'].map((key) => ({ key, value: 'visitor', ttlMs: 3_600_000 }));
        await store.writeState(id, partition, { from: 0, to: 5 }, changes);
        await store.writeState(id, partition, { from: 5, to: 6 }, []);
        await store.endEpoch(id);
        former.push(id);
      }
      const { id } = await store.readEpoch('l', 1);
      await store.removeState(id, partition, ['erased']);
      const states = await Promise.all(former.map((one) => store.readState(one, partition, ['erased', 'kept'])));
      const state = { appliedTo: 6, values: [undefined, 'visitor'] };
      expect([new Set(former).size, ...states]).toEqual([2, state, state]);
      await store.close();
    });

    test('`drift` compares the settings of every server', async () => {
      const store = await openConnectedStore(place, 'drift:');
      expect(await store.drift()).toEqual([]);
      const found: unknown[] = [];
      for (const node of nodes) {
        await node.call('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
        found.push(await store.drift());
        await node.call('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
      }
      expect(found).toEqual(nodes.map(() => ['maxmemory-policy is allkeys-lru, not noeviction']));
      await store.close();
    });

    describe('keys are not removed from the servers that are not connected', () => {
      // These sites are on different servers.
      const sites = ['a', 'b', 'c'];
      const claims = (owner: string) => sites.map((siteId) => ({ siteId, key: 'k', owner }));

      test('before the store is connected', async () => {
        const former = await openConnectedStore(place, 'left:');
        await former.claimKeys(claims('one'));
        const store = await openRedisStateStore({ ...withDefaults(place), keyPrefix: 'left:' });
        // Rejects while servers are not connected. If it resolves, all keys are removed.
        await eventually('the keys are removed', () => store.removeAll().then(() => true));
        expect(await former.claimKeys(claims('two'))).toEqual(['claimed', 'claimed', 'claimed']);
        await Promise.all([store, former].map((one) => one.close()));
      });

      test('after a server has ended', async () => {
        const store = await openConnectedStore(place, 'ended:');
        await store.claimKeys(claims('one'));
        await nodes[2]?.kill9();
        await eventually('the client has lost the server', () =>
          store.claimKeys(claims('one')).then(
            () => false,
            () => true,
          ),
        );
        for (let n = 0; n < CALLS; n++) {
          await expect(store.removeAll()).rejects.toMatchObject({ code: 'state_store_unavailable' });
          await new Promise((resolve) => setImmediate(resolve));
        }
        await store.close();
      });
    });
  });

  test('Cluster with TLS: the certificate has only the host name', async () => {
    const { certFile, keyFile, ca } = makeOwnCertificate(mkdtempSync(join(dir, 'named-')), 'DNS:localhost');
    const tls = ['--tls-cert-file', certFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', certFile];
    const names = ['--cluster-announce-hostname', 'localhost', '--cluster-preferred-endpoint-type', 'hostname'];
    const node = await start([...CLUSTER, ...tls, '--tls-auth-clients', 'no', '--tls-cluster', 'yes', ...names], {
      tls: { ca, servername: 'localhost' },
    });
    await node.call('CLUSTER', 'ADDSLOTSRANGE', '0', SLOTS_MAX);
    const place = { url: `rediss+cluster://localhost:${node.port}`, tls: { ca } };
    const store = await openConnectedStore(place, 'named:');
    expect(await store.claimKeys([{ siteId: 's', key: 'k', owner: 'o' }])).toEqual(['claimed']);
    await store.close();
  });

  test('Sentinel with TLS: the connection to the Sentinel has TLS too', async () => {
    const { certFile, keyFile, ca } = makeOwnCertificate(mkdtempSync(join(dir, 'sentinel-')));
    const files = ['--tls-cert-file', certFile, '--tls-key-file', keyFile, '--tls-ca-cert-file', certFile];
    const tls = [...files, '--tls-auth-clients', 'no', '--tls-replication', 'yes'];
    const master = await start(tls, { tls: { ca } });
    const file = join(dir, 'sentinel-tls.conf');
    writeFileSync(file, `sentinel monitor main 127.0.0.1 ${master.port} 1\n`);
    const sentinel = await start([file, '--sentinel', ...tls], { tls: { ca } });
    const place = { url: `rediss+sentinel://127.0.0.1:${sentinel.port}/main`, tls: { ca } };
    const store = await openConnectedStore(place, 'tls:');
    expect(await store.claimKeys([{ siteId: 's', key: 'k', owner: 'o' }])).toEqual(['claimed']);
    await store.close();
  });

  test('Sentinel: the store switches to a promoted replica', async () => {
    const master = await start([]);
    const replica = await start(['--replicaof', '127.0.0.1', `${master.port}`]);
    await eventually('the replica is connected', async () =>
      String(await master.call('INFO', 'replication')).includes('state=online'),
    );
    const file = join(dir, 'sentinel.conf');
    const lines = [
      `sentinel monitor main 127.0.0.1 ${master.port} 1`,
      'sentinel down-after-milliseconds main 5000',
      'sentinel failover-timeout main 3000',
    ];
    writeFileSync(file, `${lines.join('\n')}\n`);
    const sentinel = await start([file, '--sentinel']);
    const known = async () => String(await sentinel.call('SENTINEL', 'REPLICAS', 'main')).includes(`${replica.port}`);
    await eventually('the sentinel knows the replica', known, 90_000);
    const store = await openConnectedStore({ url: `redis+sentinel://127.0.0.1:${sentinel.port}/main` }, 'sentinel:');
    const key = { siteId: 's', key: 'k', owner: 'o' };
    expect(await store.claimKeys([key])).toEqual(['claimed']);
    await eventually('the replica has a copy', async () => (await replica.call('DBSIZE')) === 1);
    await master.kill9();
    const again = () => store.claimKeys([{ ...key, owner: 'another' }]).then((outcomes) => outcomes[0]);
    expect(await eventually('the replica answers', () => again(), 90_000)).toBe('pending');
    await store.close();
  }, 300_000);

  describe('an unusable connection is closed', () => {
    const connectionsTo = async (server: OwnRedis) =>
      Number(/total_connections_received:(\d+)/.exec(String(await server.call('INFO', 'stats')))?.[1]);
    const key = { siteId: 's', key: 'k', owner: 'o' };

    test('to a master that became a replica', async () => {
      const server = await start([]);
      const store = await openConnectedStore({ url: `redis://127.0.0.1:${server.port}` }, 'demoted:');
      const before = await connectionsTo(server);
      await server.call('REPLICAOF', '127.0.0.1', '1');
      await eventually('a new connection was opened', async () => {
        await expect(store.claimKeys([key])).rejects.toMatchObject({ code: 'state_store_unavailable' });
        return (await connectionsTo(server)) > before;
      });
      await server.call('REPLICAOF', 'NO', 'ONE');
      await eventually('the server is a master again', async () => (await store.claimKeys([key]))[0] === 'claimed');
      await store.close();
    });

    test('to a Redis that hangs', async () => {
      const server = await start(['--enable-debug-command', 'yes']);
      const place = { url: `redis://127.0.0.1:${server.port}`, commandTimeoutMs: COMMAND_TIMEOUT_MS };
      const store = await openConnectedStore(place, 'hanging:');
      const before = await connectionsTo(server);
      const hanging = server.call('DEBUG', 'SLEEP', '4');
      // The first call can arrive before DEBUG SLEEP blocks the server. So the test repeats the call until it fails.
      await eventually('a call times out', async () => {
        await expect(store.claimKeys([key])).rejects.toMatchObject({ code: 'state_store_unavailable' });
        return true;
      });
      await hanging;
      await eventually('the server answers again', async () => (await store.claimKeys([key]))[0] === 'claimed');
      expect(await connectionsTo(server)).toBeGreaterThan(before);
      await store.close();
    });
  });

  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    servers = [];
  });
});

import { randomUUID } from 'node:crypto';
import { openRedisRateLimiter } from '@weir/adapters/redis/redis-rate-limiter';
import { openRedisStateStore } from '@weir/adapters/redis/redis-state-store';
import { createLogger } from '@weir/runtime/logger';
import { eventually } from '@weir/testkit/eventually';
import { describeLive } from '@weir/testkit/live-ports';
import { Redis } from 'ioredis';
import { readText } from './read-files.ts';

/** The ACL rules of a user in infra/redis/users.acl, without the password. */
function rulesOf(user: string): readonly string[] {
  const line = readText('infra/redis/users.acl')
    .split('\n')
    .find((one) => one.startsWith(`user ${user} `));
  return (line ?? '')
    .split(' ')
    .slice(2)
    .filter((word) => word !== '' && !word.startsWith('#'));
}

describe('infra/redis', () => {
  test('users.acl has one user, whose password is filled in at the start; all other users are off', () => {
    expect(readText('infra/redis/users.acl').match(/^user \S+ \S+ \S+/gm)).toEqual([
      'user default off resetpass',
      'user weir on #REDIS_PASSWORD_SHA256',
    ]);
    expect(rulesOf('weir')).toEqual(expect.arrayContaining(['~weir:*', 'nocommands']));
  });

  test('redis.conf never evicts and keeps an append-only file', () => {
    const settings = new Map(
      readText('infra/redis/redis.conf')
        .split('\n')
        .map((line) => line.split(/ (.*)/).slice(0, 2) as [string, string]),
    );
    expect(settings.get('maxmemory-policy')).toBe('noeviction');
    expect(settings.get('appendonly')).toBe('yes');
  });
});

describeLive('redis', (address) =>
  describe('users.acl', () => {
    const user = `weir-${randomUUID()}`;
    const logger = createLogger('silent');
    let admin: Redis;
    let url: string;

    beforeAll(async () => {
      admin = new Redis(address());
      await admin.call('ACL', 'SETUSER', user, ...rulesOf('weir'), '>secret');
      await admin.call('ACL', 'LOG', 'RESET');
      url = address().replace(/\/\/([^@]*@)?/, `//${user}:secret@`);
    });
    afterAll(async () => {
      try {
        await admin.call('ACL', 'DELUSER', user);
      } finally {
        admin.disconnect();
      }
    });

    /**
     * Returns the names of the denied commands, except `CLIENT SETINFO`. With this command, ioredis sends its own name and version to Redis. The
     * rules deny the command, but ioredis continues. (Redis before 7.2 does not have the command.)
     */
    const denied = async () => {
      const log = (await admin.call('ACL', 'LOG')) as string[][];
      return log
        .filter((entry) => entry.includes(user))
        .map((entry) => entry[entry.indexOf('object') + 1])
        .filter((name) => name !== 'client|setinfo');
    };

    test('the state store and the rate limits need only commands that the user may run', async () => {
      const store = await openRedisStateStore({ url, commandTimeoutMs: 10_000, clock: Date.now, logger });
      await eventually('connected', () => store.ping().then(() => true));
      const claim = { siteId: 's', key: randomUUID(), owner: 'o' };
      expect(await store.claimKeys([claim])).toEqual(['claimed']);
      await store.confirmKeys([claim]);
      await store.releaseKeys([claim]);
      const holder = { siteId: 's', key: claim.key, recordId: 'h', receivedAt: Date.now() };
      const partition = { logId: randomUUID(), partition: 0 };
      const { id: epoch } = await store.readEpoch(partition.logId, 1);
      expect(await store.checkIn(epoch, partition)).toBe(true);
      expect(await store.insertFirstSeen(epoch, [holder], 60_000)).toEqual([holder]);
      expect(await store.overwriteFirstSeen(epoch, [holder], 60_000)).toBe(true);
      await store.writeState(epoch, partition, { from: 0, to: 7 }, [{ key: 'k', value: 'v', ttlMs: 60_000 }]);
      await store.writeState(epoch, partition, { from: 0, to: 8 }, [{ key: 'k', value: undefined, ttlMs: 0 }]);
      expect(await store.readState(epoch, partition, ['k'])).toEqual({ appliedTo: 8, values: [undefined] });
      expect(await store.drift()).toEqual([]);
      expect(await store.serverTime()).toBeGreaterThan(0);
      await store.close();

      const limiter = openRedisRateLimiter({ url, clock: Date.now, logger, salt: () => 'salt' });
      const key = randomUUID();
      await eventually('counted in Redis', async () => {
        await limiter.take('events', key, 1_000_000);
        return (await admin.keys(`*${key}*`)).length > 0;
      });
      await limiter.close();
      expect(await denied()).toEqual([]);
    });

    test('the user may not access other keys or change the server', async () => {
      const client = new Redis(url, { enableReadyCheck: false });
      try {
        for (const command of [
          ['GET', 'other:key'],
          ['SET', 'other:key', '1'],
          ['EVAL', "return redis.call('GET', 'other:key')", '0'],
          ['KEYS', '*'],
          ['FLUSHALL'],
          ['CONFIG', 'GET', '*'],
          ['ACL', 'LIST'],
          ['SHUTDOWN', 'NOSAVE'],
        ]) {
          await expect(client.call(command[0]!, ...command.slice(1))).rejects.toThrow(/NOPERM|can't access/);
        }
      } finally {
        client.disconnect();
      }
    });
  }),
);

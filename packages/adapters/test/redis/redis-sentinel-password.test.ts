import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { localProblem } from '@weir/testkit/live-local';
import { type OwnRedis, startOwnRedis } from './own-redis.ts';
import { openConnectedStore } from './redis-store-fixture.ts';

const problem = localProblem('redis');
const describeLocal = problem === undefined ? describe : describe.skip;

describeLocal(`Sentinel with a password${problem === undefined ? '' : `: ${problem}`}`, () => {
  const dir = mkdtempSync(join(tmpdir(), 'weir-sentinel-'));
  const servers: OwnRedis[] = [];
  let sentinel: OwnRedis;

  beforeAll(async () => {
    const master = await startOwnRedis([]);
    servers.push(master);
    // A connection of a test stays authenticated.
    await master.call('ACL', 'SETUSER', 'default', 'resetpass', '>of-the-server');
    const file = join(dir, 'sentinel.conf');
    writeFileSync(file, `sentinel monitor main 127.0.0.1 ${master.port} 1\nsentinel auth-pass main of-the-server\n`);
    sentinel = await startOwnRedis([file, '--sentinel']);
    servers.push(sentinel);
    await sentinel.call('ACL', 'SETUSER', 'weir', 'on', '>of-weir', '+@all', '&*');
    await sentinel.call('ACL', 'SETUSER', 'default', 'resetpass', '>of-the-sentinel');
  });
  afterAll(async () => {
    for (const server of servers) await server.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  test.each([
    { username: '', password: 'of-the-sentinel' },
    { username: 'weir', password: 'of-weir' },
  ])('$username:$password', async (login) => {
    const url = `redis+sentinel://:of-the-server@127.0.0.1:${sentinel.port}/main`;
    const store = await openConnectedStore({ url, sentinel: login }, `${login.password}:`);
    expect(await store.claimKeys([{ siteId: 's', key: 'k', owner: 'o' }])).toEqual(['claimed']);
    await store.close();
  });
});

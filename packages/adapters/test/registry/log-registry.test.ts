import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DependencyError } from '@weir/domain/errors';
import { TABLE_REGISTRY, TABLE_SALTS } from '@weir/domain/records/topics';
import type { Registry } from '@weir/ports/registry';
import { registryContract } from '../../../ports/contract/registry.contract.ts';
import { openLmdbEventLog } from '../../src/lmdb/lmdb-event-log.ts';
import { openLogRegistry } from '../../src/registry/log-registry.ts';

const randomSalt = () => randomBytes(32).toString('hex');
const openLog = (folder: string) =>
  openLmdbEventLog({ folder, partitions: 2, clock: Date.now, retentionMs: () => 3600_000 });

registryContract('the registry on an lmdb log', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-registry-'));
  let eventLog = await openLog(folder);
  const open = () => openLogRegistry({ eventLog, clock: Date.now, randomSalt });
  let registry = await open();
  let others: Registry[] = [];

  async function closeAll(): Promise<void> {
    await Promise.all([registry, ...others].map((one) => one.close()));
    others = [];
    await eventLog.close();
  }
  return {
    get registry() {
      return registry;
    },
    async another() {
      const other = await open();
      others.push(other);
      return other;
    },
    async reopen() {
      await closeAll();
      eventLog = await openLog(folder);
      registry = await open();
      return registry;
    },
    async close() {
      await closeAll();
      await rm(folder, { recursive: true });
    },
  };
});

describe('the registry', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-registry-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  test.each([
    ['site/s', 'not json', 'is not JSON'],
    ['site/s', '[]', 'is not an object'],
    ['site/s', '{"siteId":"s"}', 'has an invalid name'],
    ['key/s/k', '{"keyId":"k","siteId":"s","name":"n","hash":"short"}', 'has an invalid hash'],
    ['salt/2030-01-01/m', '{"salt":"guessable"}', 'has an invalid salt'],
  ])('the opening rejects if a row cannot be read: %s %s', async (key, value, message) => {
    const eventLog = await openLog(folder);
    const table = await eventLog.openTable(TABLE_REGISTRY);
    await table.put(key, value);
    await expect(openLogRegistry({ eventLog, clock: Date.now, randomSalt })).rejects.toMatchObject({
      code: 'event_log_damaged',
      message: expect.stringContaining(message),
    });
    await eventLog.close();
  });

  test('keeps its state and reports a row that it cannot read', async () => {
    const eventLog = await openLog(folder);
    const damage: unknown[] = [];
    const registry = await openLogRegistry({
      eventLog,
      clock: Date.now,
      randomSalt,
      onDamage: (error) => damage.push(error),
    });
    const site = { siteId: 's', name: '', domain: '', timezone: 'UTC', limits: {}, createdAt: 1 };
    await registry.putSite(site);
    const table = await eventLog.openTable(TABLE_REGISTRY);
    await table.put('site/s', 'not json');
    expect(damage).toMatchObject([{ code: 'event_log_damaged' }]);
    expect(registry.site('s')).toEqual(site);
    await expect(registry.catchUp()).rejects.toMatchObject({ code: 'event_log_damaged' });
    await registry.putSite(site);
    await registry.catchUp();
    await eventLog.close();
  });

  test('keeps rows of unknown kinds, written by a newer Weir, and reports them once', async () => {
    const eventLog = await openLog(folder);
    const [table, salts] = await Promise.all([eventLog.openTable(TABLE_REGISTRY), eventLog.openTable(TABLE_SALTS)]);
    await table.put('wonder/s/g', 'not even JSON');
    await table.put('riddle/s/f', '{}');
    await salts.put('pepper/2030-01-01/m', '{}');
    const told: number[] = [];
    const onUnknown = (rows: number) => told.push(rows);
    const registry = await openLogRegistry({ eventLog, clock: Date.now, randomSalt, onUnknown });
    expect(told).toEqual([3]);

    const site = { siteId: 's', name: '', domain: '', timezone: 'UTC', limits: {}, createdAt: 1 };
    await registry.putSite(site);
    await table.put('wonder/s/h', '{}');
    await table.put('wonder/s/h', undefined);
    await registry.removeSaltsBefore('2031-01-01');
    await registry.removeSite('s');
    await registry.putSite(site);
    expect(registry.sites()).toEqual([site]);
    expect(told).toEqual([3]);
    expect([...table.entries().keys()].sort()).toEqual(['riddle/s/f', 'site/s', 'wonder/s/g']);
    expect([...salts.entries().keys()]).toContain('pepper/2030-01-01/m');
    await eventLog.close();
  });

  test('reports the first row of an unknown kind that arrives later', async () => {
    const eventLog = await openLog(folder);
    const table = await eventLog.openTable(TABLE_REGISTRY);
    const told: number[] = [];
    const onUnknown = (rows: number) => told.push(rows);
    await openLogRegistry({ eventLog, clock: Date.now, randomSalt, onUnknown });
    expect(told).toEqual([]);
    await table.put('wonder/s/g', '{}');
    await table.put('wonder/s/h', '{}');
    expect(told).toEqual([1]);
    await eventLog.close();
  });

  test.each([0, 1, 2])('a replay does not begin again if its removal fails after %i writes', async (writes) => {
    const eventLog = await openLog(folder);
    let left = Number.POSITIVE_INFINITY;
    const registry = await openLogRegistry({
      eventLog: {
        ...eventLog,
        async openTable(name) {
          const table = await eventLog.openTable(name);
          const put: typeof table.put = (key, value) =>
            left-- > 0
              ? table.put(key, value)
              : Promise.reject(new DependencyError('event_log_unavailable', 'of the test'));
          return { ...table, put };
        },
      },
      clock: Date.now,
      randomSalt,
    });
    const replayId = 'r';
    await registry.putReplayRequest({ replayId, from: 'enriched', startedAt: 1 });
    await registry.putReplayState({ replayId, phase: 'drop', starts: [], recordsCopied: 0, recordsToCopy: 0 });
    await registry.putReplayWish({ replayId, wish: 'drop', askedAt: 2 });
    left = writes;
    await expect(registry.removeReplay(replayId)).rejects.toThrow('of the test');
    const replay = registry.replay();
    expect(replay === undefined || replay.state?.phase === 'drop').toBe(true);
    left = 3;
    await registry.removeReplay(replayId);
    expect([...(await eventLog.openTable(TABLE_REGISTRY)).entries().keys()]).toEqual([]);
    await eventLog.close();
  });

  test('if several processes create a salt concurrently, all but one are removed', async () => {
    const eventLog = await openLog(folder);
    const makers = await Promise.all([1, 2, 3].map(() => openLogRegistry({ eventLog, clock: Date.now, randomSalt })));
    await Promise.all(makers.map((maker) => maker.salt('2030-01-01')));
    const table = await eventLog.openTable(TABLE_SALTS);
    expect([...table.entries().keys()].filter((key) => key.startsWith('salt/'))).toHaveLength(1);
    await eventLog.close();
  });
});

import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isDependencyError } from '@weir/domain/errors';
import type { StateStore } from '@weir/ports/state-store';
import { eventually } from '@weir/testkit/eventually';
import { open } from 'lmdb';
import { stateStoreContract } from '../../../ports/contract/state-store.contract.ts';
import { openLmdbStateStore } from '../../src/lmdb/state/lmdb-state-store.ts';

stateStoreContract('the LMDB state store', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-state-'));
  let now = Date.UTC(2030, 0, 1);
  const open = () => openLmdbStateStore({ folder, clock: () => now });
  let store: StateStore = await open();
  return {
    get store() {
      return store;
    },
    another: async () => store,
    async reopen() {
      await store.close();
      store = await open();
      return store;
    },
    passTime(ms) {
      now += ms;
    },
    async close() {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
});

describe('the LMDB state store', () => {
  let folder: string;
  const partition = { logId: 'l', partition: 0 };
  const change = { key: 'a', value: '1', ttlMs: 1_000 };

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'weir-state-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function filled(): Promise<void> {
    const store = await openLmdbStateStore({ folder, clock: Date.now });
    const { id: epoch } = await store.readEpoch('l', 1);
    await store.writeState(epoch, partition, { from: 0, to: 5 }, [change]);
    await store.close();
  }

  test('after an erasure and a restart, the file has no byte of what was erased, and all other rows', async () => {
    const names = (who: string) => Array.from({ length: 300 }, (_, nth) => `${who}-${nth}`);
    const store = await openLmdbStateStore({ folder, clock: Date.now });
    const { id: epoch } = await store.readEpoch('l', 1);
    const changes = [...names('erased'), ...names('other')].map((key) => ({ key, value: `of ${key}`, ttlMs: 600_000 }));
    await store.writeState(epoch, partition, { from: 0, to: 5 }, changes);
    const seen = names('key').map((key, nth) => ({ siteId: 's', key, recordId: `r${nth}`, receivedAt: Date.now() }));
    await store.insertFirstSeen(epoch, seen, 1_000);
    await store.removeState(epoch, partition, names('erased'));
    await store.removeKeys('s', names('key'));
    await store.close();
    const bytes = () => readFile(join(folder, 'data.mdb'));
    expect((await bytes()).includes('of erased-')).toBe(true);

    for (let start = 0; start < 2; start++) {
      const next = await openLmdbStateStore({ folder, clock: Date.now });
      const { appliedTo: to, values } = await next.readState('any', partition, names('other'));
      expect([to, values]).toEqual([5, names('other').map((key) => `of ${key}`)]);
      await next.close();
      const file = await bytes();
      expect([file.includes('erased-'), file.includes('s/key-'), file.includes('of other-')]).toEqual([
        false,
        false,
        true,
      ]);
    }
  });

  test.each(['erased', 'compacted'])(
    'when state was %s before the last start, a large transaction does not crash the process',
    (before) => {
      const program = require.resolve('./lmdb-write-after-erasure.ts');
      const { status, signal, stdout } = spawnSync(process.execPath, ['--import', 'tsx', program, folder, before]);
      expect({ status, signal, stdout: String(stdout) }).toEqual({ status: 0, signal: null, stdout: '2\n' });
    },
  );

  async function appliedTo(): Promise<number> {
    const store = await openLmdbStateStore({ folder, clock: Date.now });
    const fold = await store.readState('any', partition, ['a']);
    await store.close();
    return fold.appliedTo;
  }

  test('first-seen keys are kept until the records that they can show to be duplicates are processed', async () => {
    const HOUR_MS = 3600_000;
    let now = Date.UTC(2030, 0, 1);
    let oldestUnreadAt = now + HOUR_MS;
    let asked = 0;
    const store = await openLmdbStateStore({
      folder,
      clock: () => now,
      firstSeenKeptMs: 96 * HOUR_MS,
      async oldestUnreadAt() {
        asked += 1;
        return oldestUnreadAt;
      },
    });
    const { id: epoch } = await store.readEpoch('l', 1);
    const insert = async (recordId: string, receivedAt: number) => {
      const record = { siteId: 's', key: 'k', recordId, receivedAt };
      return (await store.insertFirstSeen(epoch, [record], 24 * HOUR_MS))?.[0]?.recordId;
    };
    await insert('first', now);
    now += 1_000 * HOUR_MS;
    const before = asked;
    // Each sweep calls `oldestUnreadAt` once, and a sweep begins only when the previous one has ended. So after two calls, one sweep has ended.
    await eventually('a sweep has ended', () => asked >= before + 2);
    expect(await insert('second', oldestUnreadAt)).toBe('first');
    now += 1_000 * HOUR_MS;
    oldestUnreadAt = Number.POSITIVE_INFINITY;
    await eventually('the key to expire', async () => (await insert('third', Date.UTC(2030, 0, 1, 2))) === 'third');
    await store.close();
  });

  test('is kept after a regular close, also if the machine restarts', async () => {
    await filled();
    expect(await readFile(join(folder, 'last-boot'), 'utf8')).toBe('closed and flushed');
    expect(await appliedTo()).toBe(5);
  });

  test('starts empty if it was open when the machine lost power', async () => {
    await filled();
    await writeFile(join(folder, 'last-boot'), 'another boot');
    expect(await appliedTo()).toBe(0);
  });

  test('starts empty if the process died while opening it', async () => {
    await filled();
    await writeFile(join(folder, 'last-boot'), 'being opened');
    expect(await appliedTo()).toBe(0);
  });

  test.each([0.3, 0.6, 0.9])('starts empty if only %d of the pages in use are left of its file', async (part) => {
    await filled();
    const env = open({ path: folder });
    const { pageSize, lastPageNumber } = env.getStats() as { pageSize: number; lastPageNumber: number };
    await env.close();
    await truncate(join(folder, 'data.mdb'), Math.floor(part * (lastPageNumber + 1)) * pageSize);
    expect(await appliedTo()).toBe(0);
    await filled();
    expect(await appliedTo()).toBe(5);
  });

  test('is consistent after kill -9 of a writing process', async () => {
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', require.resolve('./lmdb-write-state-forever.ts'), folder],
      {
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    let applied = 0;
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (line) => {
      applied = Number(line);
    });
    const ended = new Promise((resolve) => lines.once('close', resolve));
    await eventually('500 folds are written', () => applied >= 500);
    child.kill('SIGKILL');
    await ended;
    const store = await openLmdbStateStore({ folder, clock: Date.now });
    const fold = await store.readState('any', { logId: 'l', partition: 0 }, ['last']);
    expect(fold.appliedTo).toBeGreaterThanOrEqual(applied);
    expect(fold.values).toEqual([String(fold.appliedTo)]);
    await store.close();
  });

  test('refuses claims above its limit and accepts them again when older claims have expired', async () => {
    let now = 0;
    const store = await openLmdbStateStore({ folder, clock: () => now, pendingClaimsMax: 2 });
    const claims = ['a', 'b', 'c'].map((key) => ({ siteId: 's', key, owner: 'o' }));
    await store.claimKeys(claims.slice(0, 2));
    const refused = await store.claimKeys(claims.slice(2)).catch((error: unknown) => error);
    expect(isDependencyError(refused, 'state_store_unavailable')).toBe(true);
    now = 15_000;
    expect(await store.claimKeys(claims.slice(2))).toEqual(['claimed']);
    await store.close();
  });

  test('rejects every call after it was closed', async () => {
    const store = await openLmdbStateStore({ folder, clock: Date.now });
    await store.close();
    for (const call of [store.ping(), store.claimKeys([]), store.readState('any', partition, [])]) {
      await expect(call).rejects.toMatchObject({ code: 'state_store_unavailable' });
    }
  });
});
